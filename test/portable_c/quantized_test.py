# SPDX-License-Identifier: Apache-2.0
"""Quantised programs as C: bit for bit what the interpreter computes with the reference kernels."""

import os
import pathlib
import tempfile
import unittest

import npy_file
import package
from command import PETREL, done

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()


class QuantizedTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def agree(self, model, array, words=()):
        made = package.Package(self.folder, "quant", [("forward", model)], words)
        actual, = made.run("forward", [npy_file.read(array).data])
        done([PETREL, "export", model, "-o", "i.pte", "--backend", "none", *words], self.folder)
        done([PETREL, "run", "i.pte", "--input", array, "--kernels", "reference", "--output-dir",
              "out"], self.folder)
        self.assertEqual(actual, npy_file.read(self.folder / "out" / "output_0.npy").data)
        made.selftest()
        return made

    def test_programs_that_pytorch_quantised(self):
        for name in ("image_tensor", "image_channel", "mixed", "rows", "rows_8bit", "rows_4bit",
                     "groups_4bit", "groups_2bit"):
            with self.subTest(name):
                self.agree(PROGRAMS / f"{name}.pt2", PROGRAMS / f"{name}.input.npy")

    def test_programs_whose_levels_are_found_at_run_time(self):
        for name in ("filters_dynamic", "groups_dynamic_4bit", "rows_dynamic", "rows_dynamic_4bit",
                     "rows_dynamic_8bit", "rows_dynamic_tensor", "tokens_dynamic"):
            with self.subTest(name):
                self.agree(PROGRAMS / f"{name}.pt2", PROGRAMS / f"{name}.input.npy")

    def test_a_record_makes_the_same_numbers_in_c(self):
        record = self.folder / "q.json"
        done([PETREL, "quantize", DIGITS, "--calibrate", DIGIT, "-o", "q.pte", "--record", record],
             self.folder)
        made = self.agree(DIGITS, DIGIT, ("--quantize", record))
        parameters = made.manifest["parameters"]
        stored = sum(p["bytes"] for p in parameters if p["dtype"] == "i8")
        self.assertGreater(stored, 20000)
        self.assertLess(sum(p["bytes"] for p in parameters), 1.1 * stored)


if __name__ == "__main__":
    unittest.main()
