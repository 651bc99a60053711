# SPDX-License-Identifier: Apache-2.0
"""Texts of files that are no UTF-8: each is shown, and what is shown finds what it names."""

import os
import pathlib
import shutil
import tempfile
import unittest

import numpy
import petrel
from elementwise import Backend, Runtime, affine, model

X = numpy.array([1, -2, 3, 0.5], numpy.float32)


def changed(path, *words, times=-1):
    """The bytes of a file with other bytes for some words, of the same length."""
    data = pathlib.Path(path).read_bytes()
    for word, other in words:
        assert len(word) == len(other) and word in data, word
        # The structure of a program stands before what backends wrote.
        data = data.replace(word, other, times)
    return data


class TextTest(unittest.TestCase):

    def test_methods(self):
        program = petrel.export(methods={"first": model("affine")})
        loaded = petrel.load(changed(program.path, (b"first", b"f\xffr\xc3t")))
        name, = loaded
        self.assertEqual(os.fsencode(name), b"f\xffr\xc3t")
        repr(loaded)
        method = loaded[name]
        repr(method)
        method.load()
        numpy.testing.assert_array_equal(method(X)[0], affine(X))
        with self.assertRaisesRegex(petrel.Error, r"takes 1 inputs, 2 are given"):
            method(X, X)
        with self.assertRaisesRegex(petrel.Error, r"f\\xffr\\xc3t"):
            method.get_attribute("none")
        method.unload()
        with self.assertRaises(KeyError):
            loaded["first"]  # pylint: disable=pointless-statement

    def test_tensors_and_keys(self):
        program = petrel.export(model("affine"), backend=None, external_weights="w.ptd")
        key = next(entry["key"] for entry in petrel.list_data(program.external_paths[0])
                   if "scale" in entry["key"])
        words = [(b"scale", b"sc\xffle")]
        data = changed(program.external_paths[0], *words)
        name = os.fsdecode(key.encode().replace(*words[0]))
        with tempfile.TemporaryDirectory() as folder:
            file, other = pathlib.Path(folder, "p.pte"), pathlib.Path(folder, "d.ptd")
            file.write_bytes(changed(program.path, *words))
            other.write_bytes(data)
            self.assertTrue(petrel.list_data(other))
            with self.assertRaisesRegex(petrel.Error, r"sc\\xffle"):
                petrel.load(file)["forward"](X)
            loaded = petrel.load(file, data=[other])
            numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))
            weight = loaded.get_data(name)
            with self.assertWarnsRegex(UserWarning, "changes no weight"):
                self.assertEqual(loaded.replace_data([other], name)["keys"], 1)
            with self.assertRaisesRegex(petrel.Error, r"\\xff"):
                loaded["forward"].get_attribute(name + "none")

            class Map(petrel.NamedDataMap):

                def get_data(self, key):
                    return {name: bytes(weight)}[key] if key == name else loaded.get_data(key)

                def keys(self):
                    return [os.fsdecode(entry.encode().replace(*words[0])) for entry in
                            [entry["key"] for entry in
                             petrel.list_data(program.external_paths[0])]]

            mapped = petrel.load(file, data=[Map()])
            numpy.testing.assert_array_equal(mapped["forward"](X)[0], affine(X))

    def test_backends_and_what_they_get(self):
        program = petrel.export(model("affine"), backend=Backend())
        program = changed(program.path, (b"forward", b"f\xffrward"), times=1)
        runtime = Runtime()
        method, = petrel.load(program, backends=[runtime]).values()
        numpy.testing.assert_allclose(method(X)[0], affine(X), rtol=1e-6)
        self.assertEqual(os.fsencode(runtime.events[0][1]), b"f\xffrward")
        program = program.replace(b"Elementwise", b"E\xffementwise")
        method, = petrel.load(program).values()
        self.assertEqual([os.fsencode(name) for name in method.backends], [b"E\xffementwise"])
        with self.assertRaisesRegex(petrel.Error, r"E\\xffementwise"):
            method(X)

    def test_two_programs(self):
        program = petrel.export(model("affine"), backend=None, external_weights="w.ptd")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "p.pte")
            file.write_bytes(changed(program.path, (b"scale", b"sc\xffle")))
            other = pathlib.Path(folder, "d.ptd")
            other.write_bytes(changed(program.external_paths[0], (b"scale", b"sc\xffle")))
            diff = petrel.diff(file, file, inputs={"0": X}, data=[other], second_data=[other])
            str(diff)
            whole = pathlib.Path(folder, "whole.pte")
            self.assertTrue(petrel.merge_data(file, [other], whole)["keys"])
            self.assertTrue(petrel.split_data(whole, pathlib.Path(folder, "split.pte"),
                                              pathlib.Path(folder, "split.ptd"))["keys"])

    def test_names_of_files_and_folders(self):
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder, os.fsdecode(b"n\xffme"))
            folder.mkdir()
            archive = pathlib.Path(shutil.copy(model("affine"), folder / "a.pt2"))
            program = petrel.export(archive, backend=None, external_weights=os.fsdecode(b"\xff.ptd"))
            program.save(folder / "p.pte")
            data, = folder.glob("*.ptd")
            self.assertEqual(os.fsencode(data.name), b"\xff.ptd")
            loaded = petrel.load(folder / "p.pte", data=[data])
            numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))
            petrel.merge_data(folder / "p.pte", [data], folder / "m.pte")
            self.assertTrue(petrel.list_data(folder / "m.pte"))
            self.assertTrue(petrel.diff(archive, folder / "m.pte", [X]))
            petrel.gen_c(archive, output=folder / "c", name="affine")
            self.assertTrue((folder / "c" / "affine.h").exists())
            with self.assertRaisesRegex(petrel.Error, r"n\\xffme"):
                petrel.load(folder / "absent.pte")


if __name__ == "__main__":
    unittest.main()
