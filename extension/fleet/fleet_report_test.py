# SPDX-License-Identifier: Apache-2.0
"""What a report of a fleet says, of status files that are written here."""

import json
import os
import pathlib
import tempfile
import unittest

import fleet_report

STATUS = {
    "petrel": "0.1.0", "error": None, "warnings": ["w"],
    "report": {
        "methods": [{"delegated": [{"nodes": 10}, {"nodes": 2}], "not_delegated": [{}],
                     "arena_bytes": [300, 60]},
                    {"delegated": [], "not_delegated": [{}, {}], "arena_bytes": [8]}],
        "file_bytes": {"program": 3792, "a.ptd": 1000, "b.ptd": 24},
        "seconds": {"import": 0.5, "emit": 0.25}},
}
FAILURE = {"petrel": "0.1.0", "error": "archive is\ndamaged", "warnings": []}


class FleetReportTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def fleet(self, **statuses):
        """A list of models with these statuses; None for one that has none."""
        files = {}
        for name, status in statuses.items():
            files[name] = f"zoo/{name}.status.json"
            path = self.folder / files[name]
            path.parent.mkdir(exist_ok=True)
            if status is not None:
                path.write_text(status if isinstance(status, str) else json.dumps(status))
        listing = self.folder / "zoo.fleet.json"
        listing.write_text(json.dumps({"fleet": "//:zoo", "models": files}))
        return listing

    def test_numbers_are_sums_over_methods_and_files(self):
        models = fleet_report.read_fleet(self.fleet(a=STATUS))
        self.assertEqual(models, {"a": fleet_report.Export(
            error=None, warnings=1, program=3792, data=1024, arena=368, delegated=12, nodes=15,
            seconds=0.75)})

    def test_models_without_a_status_have_failed(self):
        models = fleet_report.read_fleet(self.fleet(a=STATUS, b=None, c=FAILURE))
        self.assertEqual(models["b"].error, fleet_report.NO_STATUS)
        self.assertEqual(models["c"].error, "archive is\ndamaged")
        text = fleet_report.text(models, None)
        self.assertIn("\nFAILED b: has no status", text)
        self.assertIn("\nFAILED c: archive is\n    damaged\n", text)
        self.assertTrue(text.endswith("1 exported, 2 failed; 4,816 bytes, 0.8 s of exports\n"), text)

    def test_changes_since_the_last_report(self):
        kept = self.folder / "last.json"
        kept.write_text(fleet_report.to_json(fleet_report.read_fleet(
            self.fleet(a=STATUS, b=STATUS, c=FAILURE, d=FAILURE, e=STATUS, same=STATUS))))
        larger = json.loads(json.dumps(STATUS))
        larger["report"]["file_bytes"]["program"] = 4000
        larger["report"]["methods"][0]["delegated"].pop()
        larger["report"]["seconds"]["emit"] = 9
        models = fleet_report.read_fleet(
            self.fleet(a=larger, b=FAILURE, c=STATUS, d=dict(FAILURE, error="other"), same=STATUS,
                       n=STATUS))
        changes = fleet_report.changed(fleet_report.from_json(kept), models)
        self.assertEqual(changes, {
            "a": "program 3,792 -> 4,000 bytes, delegated 12 -> 10 nodes, nodes 15 -> 13",
            "b": "fails now", "c": "is exported now", "d": "fails for another reason",
            "e": "is gone", "n": "is new"})
        self.assertIn("4 exported, 2 failed, 6 changed; ", fleet_report.text(models, changes))

    def test_other_files_are_refused_by_name(self):
        for status in ("{", "[]", '{"error": null, "warnings": []}', '{"warnings": 3}'):
            with self.assertRaisesRegex(fleet_report.WrongFile, "a.status.json: "):
                fleet_report.read_fleet(self.fleet(a=status))
        with self.assertRaisesRegex(fleet_report.WrongFile, "none.json: "):
            fleet_report.read_fleet(self.folder / "none.json")
        other = self.folder / "other.json"
        other.write_text('{"exports": {"a": {"size": 1}}}')
        with self.assertRaisesRegex(fleet_report.WrongFile, "other.json: is no earlier report"):
            fleet_report.from_json(other)
        with self.assertRaisesRegex(fleet_report.WrongFile, "other.json: is no list"):
            fleet_report.read_fleet(other)

    def test_files_of_any_content_are_refused_without_a_trace(self):
        wrong = [dict(STATUS, error=3), dict(STATUS, warnings=3), dict(STATUS, report=[]),
                 dict(STATUS, report=dict(STATUS["report"], file_bytes={"program": "x"})),
                 dict(STATUS, report=dict(STATUS["report"], file_bytes={"program": -1})),
                 dict(STATUS, report=dict(STATUS["report"], seconds={"emit": 1e300})),
                 dict(STATUS, report=dict(STATUS["report"], seconds={"a": 10 ** 400, "b": 1.5})),
                 "[" * 100000, '{"error": null, "warnings": [], "report": ' + "9" * 5000 + "}"]
        for status in wrong:
            with self.assertRaisesRegex(fleet_report.WrongFile, "a.status.json: "):
                fleet_report.read_fleet(self.fleet(a=status))
        listing = self.folder / "list.json"
        for models in ([1], {"a": 3}, {"a": "\0"}):
            listing.write_text(json.dumps({"models": models}))
            with self.assertRaisesRegex(fleet_report.WrongFile, "list.json: "):
                fleet_report.read_fleet(listing)
        os.mkfifo(self.folder / "pipe")
        listing.write_text('{"models": {"a": "pipe"}}')
        with self.assertRaisesRegex(fleet_report.WrongFile, "pipe: is no regular file"):
            fleet_report.read_fleet(listing)
        (self.folder / "large").write_bytes(bytes(fleet_report.MAX_BYTES + 1))
        listing.write_text('{"models": {"a": "large"}}')
        with self.assertRaisesRegex(fleet_report.WrongFile, "large: has 16777217 bytes"):
            fleet_report.read_fleet(listing)

    def test_names_and_errors_write_nothing_else_on_the_terminal(self):
        listing = self.fleet(a=dict(FAILURE, error="\x1b[2J\x9b5m \ud800 gr\u00f6\u00dfer"))
        text = fleet_report.text(fleet_report.read_fleet(listing), None)
        self.assertIn(r"FAILED a: \x1b[2J\x9b5m \ud800 größer", text)


if __name__ == "__main__":
    unittest.main()
