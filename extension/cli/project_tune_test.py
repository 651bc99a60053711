# SPDX-License-Identifier: Apache-2.0
"""`petrel project tune` on the board that every machine is, and the records that gen-c takes."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
KEYWORDS = pathlib.Path("test/quantized/integer/keywords.pt2").absolute()
MANY = pathlib.Path("test/quantized/integer/many.pt2").absolute()
WORDS = ("--int8", "integer")


class ProjectTuneTest(unittest.TestCase):
    # One measurement, which the tests change copies of.
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.run_petrel("gen-c", KEYWORDS, *WORDS, "--board", "host", "-o", "c", "--name", "net")
        cls.run_petrel("project", "create", "--board", "host", "--model", "c", "-o", "p")
        cls.said = cls.run_petrel("project", "tune", "p", KEYWORDS, *WORDS, "-o", "record.json")
        cls.record = json.loads((cls.folder / "record.json").read_text())

    @classmethod
    def run_petrel(cls, *words, code=0):
        run = subprocess.run([str(PETREL), *map(str, words)], cwd=cls.folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.returncode == code, run.stdout + run.stderr
        return run.stdout if code == 0 else run.stderr

    def write(self, record, name="other.json"):
        """A record with the digest that belongs to it."""
        record = {key: value for key, value in record.items() if key != "sha256"}
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
        record["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        (self.folder / name).write_text(json.dumps(record))
        return name

    def changed(self, **change):
        return json.loads(json.dumps({**self.record, **change}))

    def generate(self, record, folder, *words, board="host", model=KEYWORDS, code=0):
        return self.run_petrel("gen-c", model, *WORDS, "--board", board, "--tuning", record, "-o",
                               folder, "--name", "net", *words, code=code)

    def kernels(self, folder):
        manifest = json.loads((self.folder / folder / "manifest.json").read_text())
        return {row["node"]: row for row in manifest["methods"][0]["kernels"]}

    def test_every_variant_of_every_node_is_measured(self):
        kernels = self.kernels("c")
        self.assertEqual({node["node"] for node in self.record["nodes"]}, set(kernels))
        for node in self.record["nodes"]:
            row = kernels[node["node"]]
            self.assertEqual(list(node["ticks"]), row["variants"])
            self.assertEqual(node["product"], row["product"])
            self.assertEqual(node["target_variant"], row["variant"])
            # It takes the target's unless another is better.
            least = min(node["ticks"].values())
            if node["variant"] != node["target_variant"]:
                self.assertEqual(node["ticks"][node["variant"]], least)
            self.assertIn(node["node"], self.said)
        self.assertLessEqual(self.record["tuned_ticks"], self.record["target_ticks"])
        self.assertEqual(self.record["sha256"],
                         json.loads((self.folder / self.write(self.record)).read_text())["sha256"])

    def test_the_same_record_makes_the_same_files(self):
        record = self.changed()
        for node in record["nodes"]:
            node["variant"] = "direct"
        self.write(record)
        self.generate("other.json", "a")
        self.generate("other.json", "b")
        files = sorted(path.name for path in (self.folder / "a").iterdir())
        for name in files:
            self.assertEqual((self.folder / "a" / name).read_bytes(),
                             (self.folder / "b" / name).read_bytes(), name)
        self.assertEqual({row["variant"] for row in self.kernels("a").values()}, {"direct"})
        # What a rule forces needs no record.
        first = self.record["nodes"][0]
        self.generate("other.json", "forced", "--kernel", f"{first['node']}={first['target_variant']}")
        self.assertEqual(self.kernels("forced")[first["node"]]["variant"], first["target_variant"])

    def test_records_of_anything_else_are_refused_in_a_line(self):
        node = {**self.record["nodes"][0], "node": "absent"}
        shorter = self.changed()
        shorter["nodes"].pop()
        wrong = self.changed()
        wrong["nodes"][0]["variant"] = "fast"
        for record, expected in (
                (self.changed(board="vax"), "it was measured with board 'vax', and this is for 'host'"),
                (self.changed(clock="24 MHz"), "with clock configuration '24 MHz', and this is for '"),
                (self.changed(board_sha256="0"), "with another board file of 'host'"),
                (self.changed(placement="in RAM"), "with placement 'in RAM', and this is for 'param"),
                (self.changed(kernels_sha256="0"), "with kernels of another version of petrel"),
                (self.changed(format=2), "format: is 2, must be a whole number"),
                (self.changed(nodes=[]), "it has no nodes"),
                (self.changed(nodes=[*self.record["nodes"], node]), "node 'absent' was measured and is "
                                                                    "not there: it is another model's"),
                (shorter, "was not measured: it is another model's record"),
                (wrong, "cannot have variant 'fast'; variants are "),
        ):
            with self.subTest(expected):
                said = self.generate(self.write(record), "no", code=1 if "node '" in expected or
                                     "variant" in expected or "not measured" in expected else 2)
                self.assertIn(expected, said)
                self.assertFalse((self.folder / "no").exists())

    def test_a_record_of_another_model(self):
        said = self.generate("record.json", "no", model=MANY, code=1)
        self.assertRegex(said, r"^petrel gen-c: --tuning: node '\w+' .*: it is another model's record\n$")

    def test_a_record_that_is_damaged(self):
        text = (self.folder / "record.json").read_text()
        for damaged, expected in ((text.replace('"direct"', '"dirent"', 1), "it is damaged"),
                                  (text[:-20], "is not JSON"), ("", "is not JSON"),
                                  ("[]", "must be an object")):
            (self.folder / "damaged.json").write_text(damaged)
            said = self.generate("damaged.json", "no", code=2)
            self.assertIn("--tuning 'damaged.json': ", said)
            self.assertIn(expected, said)
        self.assertIn("'absent.json'", self.generate("absent.json", "no", code=2))

    def test_what_is_wrong_is_said(self):
        for words, code, expected in (
                (("gen-c", KEYWORDS, "--tuning", "record.json", "-o", "no"), 2, "needs --board"),
                (("project", "tune", "p", KEYWORDS, "--board", "host", "-o", "r"), 2,
                 "the board is that of the project"),
                (("project", "tune", "p", KEYWORDS, "-o", "r"), 1, "has a kernel with variants"),
                (("project", "tune", "p", MANY, *WORDS, "--params", "external", "-o", "r"), 1, ""),
                (("project", "tune", "q", KEYWORDS, *WORDS, "-o", "r"), 1, "'q' has no project.json"),
        ):
            self.assertIn(expected, self.run_petrel(*words, code=code))
            self.assertFalse((self.folder / "r").exists())


if __name__ == "__main__":
    unittest.main()
