# SPDX-License-Identifier: Apache-2.0
"""Arrays that other libraries hand over in their own ways, and that are handed to them."""

import ctypes
import unittest

import numpy
import petrel
from elementwise import model

OLD, NEW = b"dltensor", b"dltensor_versioned"


class Bfloat16(numpy.ndarray):
    """As NumPy's arrays of a type that another library registers: to NumPy it has no name."""

    @property
    def dtype(self):
        return "bfloat16"

    @dtype.setter
    def dtype(self, value):  # as view() does
        numpy.ndarray.dtype.__set__(self, value)


class Refusing:
    """DLPack that does not tell its old version what is read-only."""

    def __init__(self, tensor, error=BufferError("read-only")):
        self._tensor = tensor
        self._error = error

    def __dlpack__(self, *, max_version=None):
        if max_version is None:
            raise self._error
        return self._tensor.__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


class NeverGiving(Refusing):

    def __dlpack__(self):  # pylint: disable=arguments-differ
        raise self._error


def pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def is_called(capsule, name):
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return bool(is_valid(capsule, name))


class ArrayExchangeTest(unittest.TestCase):

    def test_arrays_of_the_other_byte_order_are_turned(self):
        forward = petrel.load(petrel.export(model("affine")))["forward"]
        x = numpy.array([1, -2, 3, 0.5], numpy.float32)
        for swapped in (x.astype(">f4"), numpy.repeat(x, 2).astype(">f4")[::2]):
            numpy.testing.assert_array_equal(forward(swapped)[0], forward(x)[0])
        for other in (x.astype(">c8"), x.astype(">f8")):
            with self.assertRaisesRegex((TypeError, petrel.Error), "type that programs|float64"):
                forward(other)

    def setUp(self):
        self.forward = petrel.load(petrel.export(model("bfloat16"), backend=None))["forward"]
        self.bits = numpy.array([[0x3f80, 0x3fc0, 0x4000], [0xbf80, 0x3e00, 0x4240]], numpy.uint16)
        # Doubling adds one to the exponent.
        self.doubled = self.bits + 0x80

    def check(self, tensor, expected):
        numpy.testing.assert_array_equal(numpy.asarray(self.forward(tensor)[0]), expected)

    def test_bfloat16_that_numpy_was_taught(self):
        given = self.bits.view(Bfloat16)
        self.check(given, self.doubled)
        self.check(numpy.asfortranarray(self.bits).view(Bfloat16), self.doubled)

    def test_read_only_elements_are_handed_out_as_such_or_copied(self):
        view, = self.forward(self.bits.view(Bfloat16), copy_outputs=False)
        self.assertFalse(view.is_writable)
        memory = numpy.asarray(view).ctypes.data
        capsule = view.__dlpack__(max_version=(1, 0), copy=None)
        self.assertTrue(is_called(capsule, NEW))
        # Of a DLManagedTensorVersioned: two words of the version, two pointers, flags, the data.
        flags = ctypes.c_uint64.from_address(pointer(capsule, NEW) + 24).value
        self.assertEqual(flags, 1)
        self.assertEqual(ctypes.c_uint64.from_address(pointer(capsule, NEW) + 32).value, memory)
        for asked in ({}, {"max_version": (0, 8)}, {"max_version": (1, 0), "copy": True}):
            capsule = view.__dlpack__(**asked)
            self.assertTrue(is_called(capsule, OLD), asked)
            copied = ctypes.c_uint64.from_address(pointer(capsule, OLD)).value
            self.assertNotEqual(copied, memory, asked)
        with self.assertRaisesRegex(BufferError, "read-only"):
            view.__dlpack__(copy=False)

    def test_what_is_writable_is_handed_out_as_it_is(self):
        out, = self.forward(self.bits.view(Bfloat16))
        capsule = out.__dlpack__(max_version=(1, 0))
        self.assertTrue(is_called(capsule, OLD))

    def test_takes_both_versions(self):
        view, = self.forward(self.bits.view(Bfloat16), copy_outputs=False)
        self.check(Refusing(view), self.bits + 0x100)
        with self.assertRaisesRegex(BufferError, "nothing today"):
            self.forward(NeverGiving(view, BufferError("nothing today")))
        with self.assertRaisesRegex(OSError, "broken"):
            self.forward(Refusing(view, OSError("broken")))


if __name__ == "__main__":
    unittest.main()
