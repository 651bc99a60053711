# SPDX-License-Identifier: Apache-2.0
"""Copies of objects, and children of a fork that have them, too."""

import copy
import gc
import os
import pickle
import unittest

import numpy
import petrel
from elementwise import affine, model

X = numpy.array([1, -2, 3, 0.5], numpy.float32)


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
