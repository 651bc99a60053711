# SPDX-License-Identifier: Apache-2.0
"""What petrel_pte_fleet() writes, and what is reported of it."""

import json
import pathlib
import subprocess
import tempfile
import unittest

FLEET = pathlib.Path("extension/fleet").absolute()
PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()


def run(*words, cwd=None):
    return subprocess.run([str(word) for word in words], cwd=cwd, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class FleetTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def exported(self, *words):
        """The files that the command writes here, by their names."""
        done = run(PETREL, "export", *words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def test_files_are_those_of_the_command(self):
        wanted = self.exported(DIGITS, "-o", "digits.pte", "--external-weights", "digits.ptd",
                               "--shard-size", "80KB")
        self.assertGreater(len(wanted), 2)
        found = {path.name: path.read_bytes() for path in (FLEET / "zoo/digits.exported").iterdir()}
        self.assertEqual(found, wanted)

    def test_methods_of_a_model_with_a_folder(self):
        wanted = self.exported("--method", f"decode={DIGITS}", "--method", f"prefill={DIGITS}",
                               "-o", "two.pte", "--backend", "none")
        folder = FLEET / "methods/llm/two.exported"
        self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, wanted)

    def test_a_failure_is_kept_and_leaves_nothing_else(self):
        status = json.loads((FLEET / "zoo/damaged.status.json").read_text())
        self.assertIn("damaged.pt2", status["error"])
        folder = FLEET / "zoo/damaged.exported"
        self.assertEqual(list(folder.iterdir()) if folder.exists() else [], [])

    def test_the_report_fails_for_the_model_that_failed(self):
        report = FLEET / "report"
        done = run(report, FLEET / "zoo.fleet.json", "--last", "last.json", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^digits +[\d,]+ +[\d,]+ +\d+ +10 of 10 +\d")
        self.assertRegex(done.stdout, r"(?m)^FAILED damaged: .*damaged\.pt2")
        self.assertIn("1 exported, 1 failed; ", done.stdout)
        done = run(report, FLEET / "zoo.fleet.json", "--last", "last.json", cwd=self.folder)
        self.assertIn("1 exported, 1 failed, 0 changed; ", done.stdout)
        done = run(report, FLEET / "methods.fleet.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(report, "none.json", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("none.json", done.stderr)


class StatusTest(unittest.TestCase):
    def test_a_failure_of_the_machine_is_not_kept(self):
        with tempfile.TemporaryDirectory() as name:
            # A full disk is a failure of the machine, a damaged archive is none.
            limited = ["sh", "-c", "ulimit -f 8; trap '' XFSZ; exec \"$@\"", "sh", PETREL, "export",
                       DIGITS, "--status", f"{name}/status.json", "-o"]
            done = run(*limited, f"{name}/m.pte")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("m.pte", done.stderr)
            self.assertEqual(list(pathlib.Path(name).iterdir()), [])
            done = run(PETREL, "export", DIGITS, "-o", f"{name}/m.pte", "--status", f"{name}/s.json",
                       "--max-arena-bytes", "16", "--backend", "none")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            status = json.loads(pathlib.Path(name, "s.json").read_text())
            self.assertIn("16", status["error"])
            self.assertEqual([path.name for path in pathlib.Path(name).iterdir()], ["s.json"])


if __name__ == "__main__":
    unittest.main()
