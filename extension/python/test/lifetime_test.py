# SPDX-License-Identifier: Apache-2.0
"""Objects that have each other, copies of them, and children of a fork that have them, too."""

import copy
import gc
import os
import pickle
import unittest
import weakref

import numpy
import petrel
from elementwise import Backend, Runtime, affine, model

X = numpy.array([1, -2, 3, 0.5], numpy.float32)


class Map(petrel.NamedDataMap):

    def get_data(self, key):
        raise KeyError(key)

    def keys(self):
        return []


class Keeping(Runtime):
    """Its handles have it, too."""

    def init(self, payload, named_data, *, compile_specs, method):
        part = super().init(payload, named_data, compile_specs=compile_specs, method=method)
        return {**part, "runtime": self}

    def destroy(self, handle):
        super().destroy(handle)
        try:
            self.program["forward"](X)
        except petrel.Error as error:
            self.told.append(error.code)


class CircleTest(unittest.TestCase):

    def setUp(self):
        self.program = petrel.export(model("affine"), backend=Backend())

    def test_a_map_that_has_its_program_is_freed(self):
        data = Map()
        data.program = petrel.load(self.program, data=[data], backends=[Runtime()])
        gone = weakref.ref(data)
        del data
        gc.collect()
        self.assertIsNone(gone())

    def test_a_backend_that_has_its_program_is_freed_after_its_handles(self):
        runtime = Keeping()
        runtime.told = told = []
        events = runtime.events
        runtime.program = petrel.load(self.program, backends=[runtime])
        runtime.program["forward"](X)
        gone = weakref.ref(runtime)
        del runtime
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual([event[0] for event in events], ["init", "execute", "destroy"])
        self.assertEqual(told, ["InvalidState"])

    def test_garbage_leaves_room_for_backends(self):
        gc.disable()
        try:
            for _ in range(150):
                runtime = Runtime()
                runtime.program = petrel.load(self.program, backends=[runtime])
        finally:
            gc.enable()
        numpy.testing.assert_array_equal(runtime.program["forward"](X)[0], affine(X))

    def test_what_an_array_shows_stays(self):
        runtime = Keeping()
        runtime.told = []
        runtime.program = petrel.load(self.program, backends=[runtime])
        shown, = runtime.program["forward"](X, copy_outputs=False)
        gone, events = weakref.ref(runtime), runtime.events
        del runtime
        gc.collect()
        numpy.testing.assert_array_equal(shown, affine(X))
        self.assertNotIn("destroy", [event[0] for event in events])
        del shown
        gc.collect()
        self.assertIsNone(gone())

    def test_what_is_held_by_others_stays(self):
        data = Map()
        data.program = loaded = petrel.load(self.program, data=[data], backends=[Runtime()])
        del data
        for _ in range(3):
            gc.collect()
            numpy.testing.assert_array_equal(loaded["forward"](X)[0], affine(X))


class CopyTest(unittest.TestCase):

    def setUp(self):
        self.program = petrel.export(model("affine"), external_weights="w.ptd")

    def test_copies_and_pickles_of_a_program_outlive_it(self):
        path = self.program.path
        copies = [copy.copy(self.program), copy.deepcopy(self.program)]
        pickled = pickle.dumps(self.program)
        del self.program
        gc.collect()
        for program in copies:
            numpy.testing.assert_array_equal(petrel.load(program)["forward"](X)[0], affine(X))
        del copies, program
        gc.collect()
        self.assertFalse(os.path.exists(path))
        program = pickle.loads(pickled)
        self.assertEqual([os.path.basename(path) for path in program.external_paths], ["w.ptd"])
        self.assertIn("forward", str(program.report()))
        numpy.testing.assert_array_equal(petrel.load(program)["forward"](X)[0], affine(X))

    def test_a_child_of_a_fork_leaves_the_files(self):
        child = os.fork()
        if child == 0:
            del self.program
            gc.collect()
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        numpy.testing.assert_array_equal(petrel.load(self.program)["forward"](X)[0], affine(X))

    def test_a_loaded_program_equals_itself_alone(self):
        loaded = petrel.load(self.program)
        self.assertEqual({loaded: 1}[loaded], 1)
        self.assertNotEqual(loaded, petrel.load(self.program))

    def test_errors_of_other_classes_are_pickled_whole(self):
        error = Special("no")
        error.code, error.node = "NotFound", "conv"
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), str(again), again.code, again.node),
                         (Special, "no", "NotFound", "conv"))


class Special(petrel.Error):
    pass


if __name__ == "__main__":
    unittest.main()
