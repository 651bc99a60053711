# SPDX-License-Identifier: Apache-2.0
"""libpetrel.so shows the functions of petrel.h and nothing else, and works."""

import ctypes
import pathlib
import re
import subprocess
import unittest

HERE = pathlib.Path("extension/c_api")
LIBRARY = HERE / "libpetrel.so"


class Value(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32), ("rank", ctypes.c_uint32),
        ("is_dynamic", ctypes.c_int32), ("sizes", ctypes.c_int64 * 16),
        ("dim_order", ctypes.c_uint8 * 16), ("data", ctypes.c_void_p),
        ("nbytes", ctypes.c_size_t), ("int_value", ctypes.c_int64),
        ("double_value", ctypes.c_double), ("string", ctypes.c_char_p),
        ("string_size", ctypes.c_size_t)
    ]


class SharedLibraryTest(unittest.TestCase):

    def test_shows_the_functions_of_the_header_and_nothing_else(self):
        header = (HERE / "petrel.h").read_text()
        declared = set(re.findall(r"PETREL_EXPORT [\w ]+[ *]+(petrel_\w+)\(", header))
        self.assertGreater(len(declared), 25)
        names = subprocess.run(["nm", "-D", "--extern-only", "--defined-only", str(LIBRARY)],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        shown = {line.split()[2] for line in names.splitlines()}
        # The version of the interface is a name, too.
        self.assertEqual({name.split("@")[0] for name in shown} - {"PETREL_1"}, declared)
        self.assertTrue(all(name.endswith("@@PETREL_1") for name in shown
                            if name.startswith("petrel_")), shown)

    def test_classifies_from_another_language(self):
        library = ctypes.CDLL(str(LIBRARY.absolute()))
        library.petrel_error_text.restype = ctypes.c_char_p
        module = ctypes.c_void_p()
        self.assertEqual(library.petrel_module_load_path(b"none", None, ctypes.byref(module)),
                         0x20)
        self.assertIn(b"none", library.petrel_error_text())
        options = ctypes.c_void_p()
        self.assertEqual(library.petrel_options_create(ctypes.byref(options)), 0)
        self.assertEqual(library.petrel_options_add_data_path(
            options, str(HERE / "external.ptd").encode()), 0)
        self.assertEqual(library.petrel_module_load_path(
            str(HERE / "external.pte").encode(), options, ctypes.byref(module)), 0)
        library.petrel_options_destroy(options)
        digits = pathlib.Path("examples/quickstart/digits.bin").read_bytes()
        right = 0
        for i in range(50):
            image = digits[i * 65:i * 65 + 65]
            pixels = (ctypes.c_float * 64)(*[byte / 16 for byte in image[:64]])
            value = Value(ctypes.sizeof(Value), 1, 6, 4, 0, (1, 1, 8, 8), (0, 1, 2, 3),
                          ctypes.cast(pixels, ctypes.c_void_p), 256)
            out = Value(ctypes.sizeof(Value))
            self.assertEqual(library.petrel_module_set_input(
                module, b"forward", ctypes.c_size_t(0), ctypes.byref(value)), 0)
            self.assertEqual(library.petrel_module_run(module, b"forward"), 0)
            self.assertEqual(library.petrel_module_get_output(
                module, b"forward", ctypes.c_size_t(0), ctypes.byref(out)), 0)
            self.assertEqual(out.nbytes, 40)
            scores = list(ctypes.cast(out.data, ctypes.POINTER(ctypes.c_float))[:10])
            right += scores.index(max(scores)) == image[64]
        library.petrel_module_destroy(module)
        self.assertGreaterEqual(right, 45)


if __name__ == "__main__":
    unittest.main()
