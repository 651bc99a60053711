# SPDX-License-Identifier: Apache-2.0
"""`petrel tune`, the tables that it writes, and --tiles of the verbs that read them."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
MODEL = pathlib.Path("examples/quickstart/digits.pt2").absolute()
IMAGE = pathlib.Path("examples/quickstart/digit.npy").absolute()
NO_CHOICE = "there is one tile for this processor"


def petrel(folder, *arguments):
    return subprocess.run([PETREL, *map(str, arguments)], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class TuneTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.printed = self.done("tune", "--milliseconds", "1", "-o", "machine.tiles")
        if NO_CHOICE in self.printed:
            self.skipTest(NO_CHOICE)
        self.table = json.loads((self.folder / "machine.tiles").read_text())
        self.done("export", MODEL, "-o", "m.pte")
        self.digest = self.run_with()[0]

    def done(self, *arguments):
        result = petrel(self.folder, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def run_with(self, *options):
        """The digest of the outputs, and what was said of the tiles."""
        result = petrel(self.folder, "run", "m.pte", "--input", IMAGE, "--output-dir", "out",
                        *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        output = (self.folder / "out/output_0.npy").read_bytes()
        return hashlib.sha256(output).hexdigest(), result.stderr

    def tiles_of(self, *options):
        """What bench says that it computes in."""
        line = self.done("bench", "m.pte", "--json", "--seconds", "0", "--min-runs", "1", *options)
        return json.loads(line)["tiles"]

    def write(self, name, **changes):
        table = dict(self.table, **changes)
        (self.folder / name).write_text(json.dumps(table, indent=2))
        return name

    def other_tile(self):
        """One that the rule does not take."""
        rule = self.tiles_of().split()[0]
        rates = self.table["multiply_adds_per_ns"]["1x16"]
        return next(tile for tile in rates if tile != rule)

    def test_help_says_what_a_table_is_for(self):
        text = self.done("tune", "--help")
        for word in ("--milliseconds", "--isa", "-o,--output", "petrel tune -o epyc.tiles"):
            self.assertIn(word, text)

    def test_prints_and_writes_what_it_measured(self):
        rates = self.table["multiply_adds_per_ns"]
        for tile in rates["1x16"]:
            self.assertRegex(self.printed, rf"(?m)^{tile} +[\d-]")
        self.assertRegex(self.printed, rf"(?m)^tile +{self.table['tile']}(, as by the rule)?$")
        self.assertEqual(self.table["version"], 1)
        self.assertEqual(self.table["level"], "native")
        self.assertEqual(len({tuple(of) for of in rates.values()}), 1)

    def test_refuses_numbers_it_cannot_mean(self):
        for time in ("0", "-1", "x", "60001"):
            result = petrel(self.folder, "tune", "--milliseconds", time)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("--milliseconds", result.stderr)
        result = petrel(self.folder, "tune", "--milliseconds", "1", "-o", "no/such/folder/x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no/such/folder/x", result.stderr)

    def test_all_tiles_give_the_same_bytes(self):
        for tile in self.table["multiply_adds_per_ns"]["1x16"]:
            name = self.write("t.tiles", tile=tile)
            self.assertEqual(self.run_with("--tiles", name), (self.digest, ""), tile)
            self.assertRegex(self.tiles_of("--tiles", name), rf"^{tile} \((table t.tiles)\)$")

    def test_report_says_which_tile_it_is(self):
        name = self.write("t.tiles", tile=self.other_tile())
        bench = ("bench", "m.pte", "--seconds", "0", "--min-runs", "1")
        report = self.done(*bench, "--report", "--tiles", name)
        self.assertRegex(report, rf"(?m)^tiles +{self.other_tile()} \(table t.tiles\)$")
        rows, _, columns = self.other_tile().split("-")[0].partition("x")
        self.assertIn(f" {rows} x {columns}, ", report)
        self.assertNotIn("tiles", self.done(*bench))

    def expect_rule(self, *options):
        digest, said = self.run_with(*options)
        self.assertEqual(digest, self.digest)
        self.assertRegex(said, r"\Apetrel run: [^\n]*tiles '[^\n]*; the rule chooses\n\Z")
        self.assertRegex(self.tiles_of(*options), r"^\S+ \(rule\)$")
        return said

    def test_tables_that_do_not_count_are_told_in_one_line(self):
        processor, caches = self.table["processor"], self.table["caches"]
        self.expect_rule("--tiles", "none.tiles")
        for changes in ({"version": 2}, {"version": "1"}, {"format": 7}, {"tile": "99x99-fma3"},
                        {"tile": None}, {"level": "avx2"}, {"caches": dict(caches, l2=1)},
                        {"processor": dict(processor, model=99)}, {"processor": []},
                        {"multiply_adds_per_ns": {"1x16": -1}}):
            self.expect_rule("--tiles", self.write("bad.tiles", **changes))
        (self.folder / "cut.tiles").write_text((self.folder / "machine.tiles").read_text()[:500])
        (self.folder / "noise.tiles").write_bytes(os.urandom(4000))
        with open(self.folder / "large.tiles", "wb") as large:
            large.truncate(3 << 30)
        os.mkfifo(self.folder / "fifo.tiles")
        os.mkdir(self.folder / "folder.tiles")
        for name in ("cut", "noise", "large", "fifo", "folder"):
            self.expect_rule("--tiles", f"{name}.tiles")

    def test_a_level_takes_only_what_it_allows(self):
        if "avx512f" not in self.table["tile"]:
            self.skipTest("this processor has no AVX-512")
        forbidden = self.write("f.tiles", tile="14x32-avx512f", level="avx2")
        said = self.expect_rule("--isa", "avx2", "--tiles", forbidden)
        self.assertIn("not allowed here", said)
        self.expect_rule("--isa", "avx2", "--tiles", "machine.tiles")

    def test_a_trial_is_kept_beside_packed_weights(self):
        options = ("--packed-weights", "m.packed", "--tiles", "trial")
        self.assertEqual(self.run_with(*options), (self.digest, ""))
        kept = self.folder / "m.packed.tiles"
        self.assertEqual(json.loads(kept.read_text())["version"], 1)
        # Which no trial made: it is read.
        table = json.loads(kept.read_text())
        table["tile"] = self.other_tile()
        kept.write_text(json.dumps(table, indent=2))
        self.assertEqual(self.tiles_of(*options), f"{self.other_tile()} (trial)")
        kept.write_text("{")
        digest, said = self.run_with(*options)
        self.assertEqual(digest, self.digest)
        self.assertIn("they are measured again", said)
        self.assertEqual(json.loads(kept.read_text())["version"], 1)

    def test_packed_weights_of_another_tile_are_not_used(self):
        packed = self.folder / "m.packed"
        self.run_with("--packed-weights", "m.packed")
        before = packed.read_bytes()
        self.assertEqual(self.run_with("--packed-weights", "m.packed"), (self.digest, ""))
        self.assertEqual(packed.read_bytes(), before)
        name = self.write("t.tiles", tile=self.other_tile())
        digest, said = self.run_with("--packed-weights", "m.packed", "--tiles", name)
        self.assertEqual(digest, self.digest)
        self.assertIn("weights are packed again", said)
        self.assertNotEqual(packed.read_bytes(), before)
        self.assertEqual(self.run_with("--packed-weights", "m.packed", "--tiles", name),
                         (self.digest, ""))

    def test_words_that_are_no_files(self):
        for option, said in (("", "is empty"), ("x" * 300, "is a path of 300 bytes")):
            result = petrel(self.folder, "run", "m.pte", "--tiles", option)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("--tiles", result.stderr)
            self.assertIn(said, result.stderr)
        result = petrel(self.folder, "run", "m.pte", "--tiles", "rule", "--tiles", "trial")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
