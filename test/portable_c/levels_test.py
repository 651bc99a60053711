# SPDX-License-Identifier: Apache-2.0
"""Levels of 8, 4 and 2 bits in C, given and found at run time: bit for bit what the interpreter
computes with the reference kernels, near eager torch."""

import math
import os
import pathlib
import tempfile
import unittest

import arrays
import npy_file
import package

LEVELS = pathlib.Path("test/models/levels").absolute()
LIMITS = {"<f2": 4e-3, "<V2": 3e-2}  # of the largest element; 1e-5 of others


class LevelsTest(unittest.TestCase):
    def check_near(self, actual, eager, what):
        # Steps that torch rounds to half or bfloat16 end a level beside ours.
        if actual.dtype in ("|i1", "|u1", "<i8"):
            pairs = zip(npy_file.elements(actual), npy_file.elements(eager), strict=True)
            self.assertLessEqual(max(abs(x - y) for x, y in pairs), 1, what)
            return
        a, e = npy_file.elements(actual), npy_file.elements(eager)
        largest = max(abs(y) for y in e if math.isfinite(y))
        for x, y in zip(a, e, strict=True):
            self.assertLessEqual(abs(x - y), LIMITS.get(actual.dtype, 1e-5) * largest, what)

    def test_programs_agree_with_the_interpreter_and_with_eager_torch(self):
        for name in ("groups", "tables", "tensors"):
            with self.subTest(name):
                folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
                model = LEVELS / f"{name}.pt2"
                inputs = sorted(LEVELS.glob(f"{name}.input_*.npy"))
                built = package.Package(folder, "net", [("forward", model)])
                expected = arrays.interpreted(folder, model, inputs)
                given = [npy_file.read(f).data for f in inputs]
                for i, (a, e) in enumerate(zip(built.run("forward", given), expected, strict=True)):
                    self.assertTrue(arrays.same(a, e), f"output {i} differs")
                    eager = npy_file.read(LEVELS / f"{name}.output_{i}.npy")
                    self.assertEqual((e.dtype, e.shape), (eager.dtype, eager.shape))
                    self.check_near(e, eager, f"output {i}")
                built.selftest()

    def test_rows_that_are_not_there_fail_the_call(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        built = package.Package(folder, "net", [("forward", LEVELS / "tables.pt2")])
        given = [npy_file.read(f).data for f in sorted(LEVELS.glob("tables.input_*.npy"))]
        built.run("forward", given)
        for bad in (6, -1, 2**40):
            at = bad.to_bytes(8, "little", signed=True) + given[5][8:]
            with self.assertRaisesRegex(AssertionError, "forward: 123"):  # E_DATA
                built.run("forward", [*given[:5], at])


if __name__ == "__main__":
    unittest.main()
