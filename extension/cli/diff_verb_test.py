# SPDX-License-Identifier: Apache-2.0
"""`petrel diff`: two programs, value by value."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
IMAGE = pathlib.Path("examples/quickstart/digit.npy").absolute()
QUANTIZED = pathlib.Path("test/quantized/programs").absolute()


class DiffVerbTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *arguments):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *arguments, code=0):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def diff(self, *arguments, code=0):
        return json.loads(self.done("diff", *arguments, "--json", code=code))

    def test_an_archive_is_like_its_programs(self):
        self.done("export", DIGITS, "-o", "kernels.pte", "--backend", "none")
        self.done("export", DIGITS, "-o", "xnnpack.pte", "--external-weights", "w.ptd")
        same = self.diff(DIGITS, "kernels.pte", "--input", IMAGE)
        self.assertTrue(same["equal"])
        self.assertEqual(same["matched_by"], "operators, which are the same")
        self.assertEqual(same["unmatched_second"], [])
        found = self.diff(DIGITS, "xnnpack.pte", "--second-data", "w.ptd", "--input", IMAGE)
        self.assertTrue(found["equal"])
        # Two convolutions and a linear layer at least, inside of the partition.
        places = [value["second"]["place"] for value in found["values"]]
        self.assertGreaterEqual(sum("/" in place for place in places), 3, places)
        text = self.done("diff", DIGITS, "xnnpack.pte", "--second-data", "w.ptd", "--input", IMAGE)
        self.assertIn("no value differs", text)

    def test_data_of_the_first_is_not_that_of_the_second(self):
        self.done("export", DIGITS, "-o", "m.pte", "--external-weights", "m.ptd")
        result = self.petrel("diff", "m.pte", "m.pte", "--data", "m.ptd", "--input", IMAGE)
        self.assertEqual(result.returncode, 2)
        self.assertIn("m.pte (whose data files are --second-data): ", result.stderr)

    def test_integers_are_noise_within_a_bound(self):
        self.done("quantize", DIGITS, "--calibrate", IMAGE, "-o", "int8.pte")
        found = self.diff(DIGITS, "int8.pte", "--input", IMAGE)
        self.assertTrue(found["equal"])
        noise = [value["sqnr_db"] for value in found["values"]]
        self.assertTrue(any(isinstance(n, float) and 20 < n < 90 for n in noise), noise)
        strict = self.diff(DIGITS, "int8.pte", "--input", IMAGE, "--min-sqnr", "200", code=1)
        self.assertFalse(strict["equal"])
        first = strict["values"][strict["first_difference"]]
        self.assertTrue(first["culprit"])

    def test_programs_of_the_wheel_are_like_ours(self):
        names = [path.name[:-len(".wheel.npy")] for path in QUANTIZED.glob("*.wheel.npy")]
        self.assertGreaterEqual(len(names), 8)
        for name in sorted(names):
            with self.subTest(name):
                self.done("export", QUANTIZED / f"{name}.pt2", "-o", "ours.pte")
                found = self.diff("ours.pte", QUANTIZED / f"{name}.pte", "--input",
                                  QUANTIZED / f"{name}.input.npy")
                self.assertTrue(found["equal"])
                self.assertGreaterEqual(found["matched"], 1)

    def test_what_cannot_be_compared_is_trouble(self):
        self.assertEqual(self.petrel("diff", DIGITS, "missing.pte").returncode, 2)
        bad = self.petrel("diff", DIGITS, DIGITS, "--input", "[1,2]")
        self.assertEqual(bad.returncode, 2)
        self.assertIn("takes [1,1,8,8]", bad.stderr)
        (self.folder / "cut.pte").write_bytes(b"\0" * 100)
        self.assertEqual(self.petrel("diff", DIGITS, "cut.pte").returncode, 2)


if __name__ == "__main__":
    unittest.main()
