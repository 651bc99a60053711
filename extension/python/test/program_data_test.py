# SPDX-License-Identifier: Apache-2.0
"""The data that programs are loaded with, and what holds them to it."""

import gc
import gzip
import io
import os
import pathlib
import tempfile
import unittest
import weakref
import zipfile

import numpy
import petrel
from elementwise import Backend, Runtime, affine, model, safetensors

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


class OpenFileTest(unittest.TestCase):

    def setUp(self):
        self.program = petrel.export(model("affine"), external_weights="w.ptd")

    def test_programs_and_data_are_read_whole_and_may_be_closed(self):
        for mode in ("mmap", "file"):
            with open(self.program.path, "rb") as file, \
                    open(self.program.external_paths[0], "rb") as data:
                file.seek(7)
                loaded = petrel.load(file, data=[data], load_mode=mode)
                self.assertEqual(file.tell(), 7)
            numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))

    def test_files_that_the_system_does_not_know_are_read_by_themselves(self):
        data = pathlib.Path(self.program.external_paths[0]).read_bytes()
        with open(self.program.path, "rb") as file:
            code = file.read()
        behind = io.BytesIO(b"")
        behind.write(code)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.gz")
            path.write_bytes(gzip.compress(code))
            with zipfile.ZipFile(pathlib.Path(folder, "data.zip"), "w") as archive:
                archive.writestr("w.ptd", data)
            written = open(pathlib.Path(folder, "written"), "w+b")  # and still in the buffer
            written.write(code)
            temporary = tempfile.NamedTemporaryFile(dir=folder)
            temporary.write(code)
            for source in (io.BytesIO(code), behind, gzip.open(path), written, temporary,
                           io.BufferedReader(gzip.open(path))):
                with source, zipfile.ZipFile(pathlib.Path(folder, "data.zip")) as archive:
                    loaded = petrel.load(source, data=[archive.open("w.ptd")])
                numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))

    def test_limits_that_are_no_sizes_are_named(self):
        with self.assertRaisesRegex(petrel.Error, r"max_arena_bytes is -1, must be in \[0, 2"):
            petrel.load(self.program, max_arena_bytes=-1)
        with self.assertRaisesRegex(TypeError, "max_arena_bytes is 1.5, must be a whole"):
            petrel.load(self.program, max_arena_bytes=1.5)

    def test_what_cannot_be_read_is_told(self):
        reading, writing = os.pipe()
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe, self.assertRaises(petrel.Error):
            petrel.load(pipe)
        with open(self.program.path, "rb") as file:
            pass
        with self.assertRaisesRegex(ValueError, "closed file"):
            petrel.load(file)
        with self.assertRaisesRegex(TypeError, "StringIO gives str, must give bytes"):
            petrel.load(io.StringIO("text"))
        with open(self.program.path, "rb") as file, self.assertRaises(TypeError):
            petrel.load(self.program.path, data=file)


class Weights(Backend):
    """Adds its constants as weights."""

    def add(self, value, store):
        return store.add_weight(value)


class FileTest(unittest.TestCase):
    """Which data files one export may replace."""

    def test_a_file_that_a_backend_names_does_not_take_the_place_of_another(self):
        class Names(Backend):
            def add(self, value, store):
                store.add_named_blob(value.fqn, self.factor * value.data, 16, "weights.ptd")
                return value.fqn

        backend = Names()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            backend.factor = numpy.float32(1)
            first = petrel.export(model("affine"), backend=backend)
            first.save(folder / "first.pte")
            first.save(folder / "again.pte")  # equal bytes
            kept = (folder / "weights.ptd").read_bytes()
            backend.factor = numpy.float32(2)
            second = petrel.export(model("affine"), backend=backend)
            with self.assertRaisesRegex(FileExistsError, "weights.ptd' is there"):
                second.save(folder / "second.pte")
            self.assertFalse((folder / "second.pte").exists())
            self.assertEqual((folder / "weights.ptd").read_bytes(), kept)
            second.save(folder / "second.pte", replace_data=True)
            self.assertNotEqual((folder / "weights.ptd").read_bytes(), kept)
            # A name that export() was given is the user's choice.
            for bind in (False, True):
                petrel.export(model("affine"), backend=None, external_weights="weights.ptd",
                              weight_keys="name" if bind else "content").save(folder / "third.pte")


SCALE = numpy.array([4, 3, 2, 1], numpy.float32)
SHIFT = numpy.full(4, 2, numpy.float32)
KEYS = {"scale": SCALE, "shift": SHIFT}


class ReplaceDataTest(unittest.TestCase):
    """Other weights for a program that is loaded: X * scale + shift."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ways(self, tensors):
        """The same data as a path, as bytes, as an open file and as a map."""
        self.count = getattr(self, "count", 0) + 1
        path = self.folder / f"{self.count}.safetensors"
        path.write_bytes(safetensors(tensors))
        file = open(path, "rb")
        self.addCleanup(file.close)
        return [path, path.read_bytes(), file, Map(tensors)]

    def loaded(self):
        """Programs whose weights are outside and, with data before what it has, inside."""
        for backend in ("xnnpack", None, Weights()):
            for mode in ("mmap", "file"):
                for inside in (False, True):
                    options = {} if inside else {"external_weights": "w.ptd"}
                    program = petrel.export(model("affine"), backend=backend, weight_keys="name",
                                            **options)
                    runtime = [Runtime()] if isinstance(backend, Weights) else []
                    yield petrel.load(program, backends=runtime, load_mode=mode,
                                      precedence="external" if inside else "refuse")

    def test_other_weights_take_the_place_of_those_of_a_loaded_program(self):
        for program in self.loaded():
            forward = program["forward"]
            numpy.testing.assert_array_equal(forward(X)[0], affine(X))
            for data in self.ways(KEYS):
                replaced = program.replace_data([data])
                self.assertEqual((replaced["keys"], replaced["changed"]), (2, 2))
                numpy.testing.assert_array_equal(forward(X)[0], X * SCALE + SHIFT)
                # And back, one key at a time, in a method that is loaded again.
                for first in self.ways({"scale": numpy.arange(1, 5, dtype=numpy.float32),
                                        "shift": numpy.full(4, 0.5, numpy.float32)})[:1]:
                    self.assertEqual(program.replace_data([first], "sc*")["changed"], 1)
                    numpy.testing.assert_array_equal(
                        forward(X)[0], X * numpy.arange(1, 5, dtype=numpy.float32) + SHIFT)
                    forward.unload()
                    self.assertEqual(program.replace_data([first], "shift")["delegates"], 0)
                    numpy.testing.assert_array_equal(forward(X)[0], affine(X))

    def test_a_failure_leaves_the_program_as_it_was(self):
        for program in self.loaded():
            forward = program["forward"]
            forward.load()
            for wrong in self.ways({"scale": SCALE, "shift": numpy.zeros(3, numpy.float32)}):
                with self.assertRaisesRegex(petrel.Error, "shift"):
                    program.replace_data([wrong])
            for glob, data, code in (("*lora*", KEYS, "NotFound"),
                                     ("*", {"other": SHIFT}, "NotFound")):
                with self.assertRaises(petrel.Error) as caught:
                    program.replace_data([Map(data)], glob)
                self.assertEqual(caught.exception.code, code)
            with self.assertRaises(TypeError):
                program.replace_data("w.ptd")
            with self.assertRaises(petrel.Error):
                program.replace_data([self.folder / "none.ptd"])
            numpy.testing.assert_array_equal(forward(X)[0], affine(X))

    def test_exceptions_of_maps_come_out_and_change_nothing(self):
        class Fails(Map):
            def get_data(self, key):
                raise ZeroDivisionError(key)

        for program in self.loaded():
            program["forward"].load()
            with self.assertRaises(ZeroDivisionError):
                program.replace_data([Fails(KEYS)])
            numpy.testing.assert_array_equal(program["forward"](X)[0], affine(X))

    def test_a_swap_that_changes_nothing_is_told(self):
        for program in self.loaded():
            with self.assertWarnsRegex(UserWarning, "changes no weight"):
                program.replace_data([Map({"scale": numpy.arange(1, 5, dtype=numpy.float32)})])

    def test_data_that_no_loaded_method_needs_are_told(self):
        for program in self.loaded():
            with self.assertWarnsRegex(UserWarning, "no loaded method is known to need .* \"other\""):
                program.replace_data([Map({"other": SHIFT})])
            numpy.testing.assert_array_equal(program["forward"](X)[0], affine(X))

    def test_old_data_go(self):
        for program in self.loaded():
            maps = [Map({"scale": SCALE * i, "shift": SHIFT}) for i in range(1, 4)]
            alive = [weakref.ref(each) for each in maps]
            program["forward"].load()
            while maps:
                program.replace_data([maps.pop()])
            del program
            gc.collect()
            self.assertEqual([each() for each in alive], [None] * 3)

    def test_data_are_shown_without_a_copy_and_may_be_kept(self):
        kept = []

        class Keeps(Runtime):
            def init(self, payload, named_data, *, compile_specs, method):
                for key in named_data.keys():
                    kept.append(named_data.get_data(key, copy=False))
                return super().init(payload, named_data, compile_specs=compile_specs,
                                    method=method)

        program = petrel.export(model("affine"), backend=Weights(), weight_keys="name",
                                external_weights="w.ptd")
        given = [numpy.arange(1, 5, dtype=numpy.float32), numpy.full(4, 0.5, numpy.float32)]
        for source in ([program.external_paths[0]],
                       [pathlib.Path(program.external_paths[0]).read_bytes()],
                       [Map({"scale": given[0], "shift": given[1]})]):
            for mode in ("mmap", "file"):
                backend = Keeps()
                alive = weakref.ref(backend)
                loaded = petrel.load(program.path, data=source, backends=[backend], load_mode=mode)
                numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))
                before = loaded.get_data("scale")
                self.assertFalse(before.flags.writeable)
                loaded.replace_data([Map(KEYS)])
                kept.append(loaded.get_data("scale"))
                with self.assertRaises(petrel.Error):
                    loaded.get_data("none")
                # What is kept keeps neither the program nor its backend.
                del loaded, backend
                gc.collect()
                self.assertIsNone(alive())
                scales = [array.view(numpy.float32).tolist() for array in (before, *kept)]
                self.assertEqual(scales.count([1, 2, 3, 4]), 2)
                self.assertEqual(scales.count([4, 3, 2, 1]), 2)
                kept.clear()
        loaded = petrel.load(program.path, data=[Map({"scale": given[0], "shift": given[1]})],
                             backends=[Runtime()])
        if given[0].ctypes.data % 16 == 0:
            self.assertTrue(numpy.shares_memory(loaded.get_data("scale"), given[0]))
        inside = petrel.export(model("affine"), backend=Weights(), weight_keys="name")
        own = petrel.load(pathlib.Path(inside.path).read_bytes(),
                          backends=[Runtime()]).get_data("scale")
        gc.collect()
        numpy.testing.assert_array_equal(own.view(numpy.float32), [1, 2, 3, 4])

    def test_weights_and_state_are_shown_by_name(self):
        program = petrel.export(model("affine"), backend=None, external_weights="w.ptd")
        forward = petrel.load(program)["forward"]
        numpy.testing.assert_array_equal(forward.get_attribute("scale"), [1, 2, 3, 4])
        with self.assertRaisesRegex(petrel.Error, "no weight or state \"none\""):
            forward.get_attribute("none")

    def test_state_starts_from_other_data(self):
        state = pathlib.Path("test/models/state")
        program = petrel.export(methods={m: state / f"counter.{m}.pt2" for m in ("add", "read")},
                                external={"*total": "total.ptd"})
        first = {"counter.total": numpy.array([5, 6, 7, 8], numpy.float32)}
        for data in self.ways(first):
            loaded = petrel.load(program)
            numpy.testing.assert_array_equal(loaded["read"]()[0], [10, 20, 30, 40])
            loaded["add"](numpy.ones(4, numpy.float32))
            numpy.testing.assert_array_equal(loaded["read"].get_attribute("counter.total"),
                                             [2, 3, 4, 5])
            self.assertEqual(loaded.replace_data([data])["tensors"], 2)
            numpy.testing.assert_array_equal(loaded["read"]()[0], [50, 60, 70, 80])
            program_only = petrel.load(program.path, data=[data])
            numpy.testing.assert_array_equal(program_only["read"]()[0], [50, 60, 70, 80])

    def test_the_first_of_several_sources_counts_if_asked(self):
        program = petrel.export(model("affine"), backend=None, external_weights="w.ptd")
        for first in self.ways({"scale": SCALE})[:3]:
            data = [first, program.external_paths[0]]
            with self.assertRaisesRegex(petrel.Error, "scale"):
                petrel.load(program.path, data=data)
            forward = petrel.load(program.path, data=data, data_order="first")["forward"]
            numpy.testing.assert_array_equal(forward(X)[0], X * SCALE + numpy.float32(0.5))
        with self.assertRaisesRegex(ValueError, "data_order is 'last'"):
            petrel.load(program.path, data_order="last")


if __name__ == "__main__":
    unittest.main()
