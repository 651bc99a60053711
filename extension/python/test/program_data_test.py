# SPDX-License-Identifier: Apache-2.0
"""The data that programs are loaded with, and what holds them to it."""

import pathlib
import tempfile
import unittest

import numpy
import petrel
from elementwise import affine, model

X = numpy.array([1, -2, 3, 0.5], numpy.float32)


class Map(petrel.NamedDataMap):
    """Data in a dict."""

    def __init__(self, data):
        self.data = data

    def get_data(self, key):
        return self.data[key]

    def keys(self):
        return self.data.keys()


class BoundTest(unittest.TestCase):

    def test_other_bytes_than_those_the_program_is_bound_to_are_refused(self):
        for backend in ("xnnpack", None):
            program = petrel.export(model("affine"), backend=backend, external_weights="w.ptd",
                                    bind_data=True)
            right = pathlib.Path(program.external_paths[0]).read_bytes()
            other = right[:-1] + bytes([right[-1] ^ 1])
            keys = [entry["key"] for entry in petrel.list_data(program.external_paths[0])]
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "other.ptd")
                path.write_bytes(other)
                for wrong in (other, path, Map({key: bytes(16) for key in keys})):
                    for mode in ("mmap", "file"):
                        with self.assertRaisesRegex(petrel.Error, "the program is bound to"):
                            petrel.load(program.path, data=[wrong], load_mode=mode)["forward"](X)
            for data in (right, program.external_paths[0]):
                out, = petrel.load(program.path, data=[data])["forward"](X)
                numpy.testing.assert_array_equal(out, affine(X))


if __name__ == "__main__":
    unittest.main()
