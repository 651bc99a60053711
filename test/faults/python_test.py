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

    def test_text_that_is_not_utf8(self):
        forward = petrel.load(PROGRAMS / "text.pte")["forward"]
        for _ in range(3):
            with self.assertRaises(UnicodeDecodeError):
                forward()

    def test_arguments_without_memory(self):
        forward = petrel.load(PROGRAMS / "no_memory.pte", backends=[Stranger()])["forward"]
        for _ in range(3):
            with self.assertRaisesRegex(petrel.Error, "of 4194304 bytes has been given no memory"):
                forward()


if __name__ == "__main__":
    unittest.main()
