# SPDX-License-Identifier: Apache-2.0
"""petrel.diff: two programs, value by value, from arrays."""

import math
import os
import pathlib
import tempfile
import unittest

import numpy
import petrel

DIGITS = "examples/quickstart/digits.pt2"
PIXELS = 64


class DiffTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        rows = numpy.fromfile("examples/quickstart/digits.bin", numpy.uint8)
        rows = rows.reshape(-1, PIXELS + 1)[:8, :PIXELS].astype(numpy.float32)
        self.images = rows.reshape(-1, 1, 1, 8, 8) / 16

    def test_programs_of_one_model_are_alike(self):
        program = petrel.export(DIGITS, external_weights="w.ptd")
        program.save(self.folder / "m.pte")
        for second, data in ((program, ()), (self.folder / "m.pte", [self.folder / "w.ptd"])):
            for inputs in (self.images[0], (self.images[0],), {"image": self.images[0]}):
                found = petrel.diff(DIGITS, second, inputs, second_data=data)
                self.assertTrue(found["equal"])
                self.assertGreaterEqual(len(found["values"]), 4)
                self.assertIn("no value differs", str(found))

    def test_noise_is_that_of_the_outputs(self):
        small = petrel.quantize(DIGITS, calibrate=self.images, backend=None)
        found = petrel.diff(DIGITS, small, self.images[0], min_sqnr=200)
        self.assertFalse(found["equal"])
        scores, = petrel.load(petrel.export(DIGITS, backend=None))["forward"](self.images[0])
        made, = petrel.load(small)["forward"](self.images[0])
        noise = 10 * math.log10((scores ** 2).sum() / ((scores - made) ** 2).sum())
        self.assertAlmostEqual(found["values"][-1]["sqnr_db"], noise, delta=0.01)

    def test_what_is_wrong_is_named(self):
        with self.assertRaisesRegex((petrel.Error, ValueError), "input 0 'image' is missing"):
            petrel.diff(DIGITS, DIGITS, ())
        with self.assertRaisesRegex((petrel.Error, ValueError), "there is no input 'picture'"):
            petrel.diff(DIGITS, DIGITS, {"image": self.images[0], "picture": self.images[0]})
        with self.assertRaisesRegex((petrel.Error, ValueError), r"float64\[1,1,8,8\]"):
            petrel.diff(DIGITS, DIGITS, self.images[0].astype(numpy.float64))
        with self.assertRaisesRegex((petrel.Error, ValueError), "gone.pte"):
            petrel.diff(DIGITS, "gone.pte", self.images[0])
        with self.assertRaisesRegex((petrel.Error, ValueError), "'backward'"):
            petrel.diff(petrel.export(DIGITS), DIGITS, self.images[0], method="backward")


if __name__ == "__main__":
    unittest.main()
