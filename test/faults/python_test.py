# SPDX-License-Identifier: Apache-2.0
"""Programs that are odd for Python: each runs or raises, and Python goes on."""

import pathlib
import unittest

import numpy
import petrel

PROGRAMS = pathlib.Path("test/faults/odd_python_programs")
# By the number of an element type, what NumPy has.
OF_NUMPY = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
            7: "float64", 11: "bool", 27: "uint16", 28: "uint32", 29: "uint64"}
# Of the others, the bits.
BITS = {1: "uint8", 2: "uint16", 4: "uint32"}


class Stranger(petrel.RuntimeBackend):
    id = "Stranger"

    def init(self, payload, named_data, *, compile_specs, method):
        return None

    def execute(self, handle, args):
        for arg in args:
            arg[...] = 1


class Bias(petrel.NamedDataMap):

    def __init__(self, value):
        self.data = numpy.full(3, value, numpy.float32)

    def get_data(self, key):
        return {"bias": self.data}[key]

    def keys(self):
        return ["bias"]


class OddProgramsTest(unittest.TestCase):

    def test_outputs_of_every_element_type(self):
        files = sorted(PROGRAMS.glob("dtype_*.pte"))
        self.assertGreater(len(files), len(OF_NUMPY))
        for file in files:
            number = int(file.stem.split("_")[1])
            for copy_outputs in (True, False):
                out, = petrel.load(file)["forward"](copy_outputs=copy_outputs)
                array = numpy.asarray(out)
                with self.subTest(number=number, dtype=out.dtype):
                    self.assertEqual(array.shape, (2, 3))
                    self.assertEqual(array.dtype, OF_NUMPY.get(number) or BITS[array.itemsize])
                    if number in OF_NUMPY:
                        continue
                    self.assertIsInstance(out, petrel.Tensor)
                    self.assertEqual(out.nbytes, array.nbytes)
                    if out.dtype == "bfloat16":
                        self.assertIsNotNone(out.__dlpack__())
                        continue
                    with self.assertRaisesRegex(BufferError, "DLPack has no type for"):
                        out.__dlpack__()

    def test_views_of_inputs_stay(self):
        forward = petrel.load(PROGRAMS / "echo.pte")["forward"]
        views, arrays = [], []
        for i in range(20):
            arrays.append(numpy.full((2, 3), i, numpy.float32))
            views += forward(arrays[-1].copy(), copy_outputs=False)
        for view, array in zip(views, arrays):
            numpy.testing.assert_array_equal(view, array)
        forward.unload()

    def test_memory_that_is_shown_stays(self):
        program = petrel.load(PROGRAMS / "weight.pte", data=[Bias(1)])
        forward = program["forward"]
        view, = forward(copy_outputs=False)
        for action in (forward.unload, lambda: program.replace_data([Bias(2)])):
            with self.assertRaisesRegex(petrel.Error, "arrays that show its memory") as caught:
                action()
            self.assertEqual(caught.exception.code, "InvalidState")
        numpy.testing.assert_array_equal(view, [1] * 3)
        del view
        program.replace_data([Bias(2)])
        view, = forward()
        numpy.testing.assert_array_equal(view, [2] * 3)
        forward.unload()
        numpy.testing.assert_array_equal(forward()[0], [2] * 3)

    def test_text_that_is_not_utf8(self):
        forward = petrel.load(PROGRAMS / "text.pte")["forward"]
        for _ in range(3):
            text, = forward()
            self.assertEqual(text.encode(errors="surrogateescape"), b"\xff\xfe")

    def test_arguments_without_memory(self):
        forward = petrel.load(PROGRAMS / "no_memory.pte", backends=[Stranger()])["forward"]
        for _ in range(3):
            with self.assertRaisesRegex(petrel.Error, "of 4194304 bytes has been given no memory"):
                forward()


if __name__ == "__main__":
    unittest.main()
