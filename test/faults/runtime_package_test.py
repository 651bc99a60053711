# SPDX-License-Identifier: Apache-2.0
"""Odd programs in petrel_runtime: what it shows of them stays."""

import pathlib
import unittest

import numpy
import petrel_runtime

PROGRAMS = pathlib.Path("test/faults/odd_python_programs")


class OddProgramsTest(unittest.TestCase):

    def test_views_of_inputs_stay(self):
        forward = petrel_runtime.load(PROGRAMS / "echo.pte")["forward"]
        views, arrays = [], []
        for i in range(20):
            arrays.append(numpy.full((2, 3), i, numpy.float32))
            views += forward(arrays[-1].copy(), copy_outputs=False)
        for view, array in zip(views, arrays):
            numpy.testing.assert_array_equal(view, array)
        forward.unload()

    def test_memory_of_the_program_is_shown_in_place(self):
        file = sorted(PROGRAMS.glob("dtype_6.pte"))[0]
        forward = petrel_runtime.load(file)["forward"]
        first, = forward(copy_outputs=False)
        second, = forward(copy_outputs=False)
        self.assertEqual(first.ctypes.data, second.ctypes.data)


if __name__ == "__main__":
    unittest.main()
