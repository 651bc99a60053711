# SPDX-License-Identifier: Apache-2.0
"""Weights that a backend in Python adds: their keys and their files."""

import hashlib
import os
import tempfile
import unittest

import numpy
import petrel
from elementwise import Backend, Runtime, affine, model, safetensors

X = numpy.array([1, -2, 3, 0.5], numpy.float32)
SCALE = numpy.array([4, 3, 2, 1], numpy.float32)


class Weights(Backend):
    """Adds its constants as weights."""

    def __init__(self):
        super().__init__()
        self.keys = {}
        self.values = {}

    def add(self, value, store):
        self.keys[value.fqn] = store.add_weight(value)
        self.values[value.fqn] = value.data.tobytes()
        return self.keys[value.fqn]


class WeightsTest(unittest.TestCase):

    def test_weights_have_the_key_and_file_that_the_export_says(self):
        for options in ({}, {"weight_keys": "name"}, {"external": {"*": "w.ptd"}},
                        {"weight_keys": "name", "external": {"*": "w.ptd"}}):
            with self.subTest(**options):
                backend = Weights()
                program = petrel.export(model("affine"), backend=backend, **options)
                self.assertGreater(len(backend.keys), 0)
                for fqn, key in backend.keys.items():
                    digest = hashlib.sha256(backend.values[fqn]).hexdigest()
                    self.assertEqual(key, fqn if "weight_keys" in options else digest)
                self.assertEqual([os.path.basename(path) for path in program.external_paths],
                                 ["w.ptd"] if "external" in options else [])
                out, = petrel.load(program, backends=[Runtime()])["forward"](X)
                numpy.testing.assert_array_equal(out, affine(X))

    def test_what_is_made_of_a_weight_has_a_key_of_its_own(self):
        class Doubled(Weights):
            def add(self, value, store):
                self.made = store.add_weight(value, value.data * 2, form="doubled")
                return super().add(value, store)

            def payload(self, part, store):
                with_input = part.graph.inputs[0]
                try:
                    store.add_weight(with_input)
                except ValueError as error:
                    self.refusal = str(error)
                return super().payload(part, store)

        backend = Doubled()
        petrel.export(model("affine"), backend=backend, weight_keys="name")
        self.assertIn(backend.made, [f"{fqn}#doubled" for fqn in backend.keys])
        self.assertRegex(backend.refusal, "is not a constant")


    def test_weights_that_a_backend_stores_by_itself_are_told(self):
        with self.assertWarnsRegex(UserWarning, "'Elementwise' stores 2 weights by itself.*'scale'"):
            program = petrel.export(model("affine"), backend=Backend(), weight_keys="name")
        self.assertEqual({row["weight"] for row in program.report()["bypassed_weights"]},
                         {"scale", "shift"})
        with self.assertRaisesRegex(petrel.Error, "weight 'scale' is to go to 's.ptd' under"):
            petrel.export(model("affine"), backend=Backend(), weight_keys="name",
                          external={"sc*": "s.ptd"})
        with self.assertRaisesRegex(petrel.Error, "weight 'scale' matches 'sc[*]' and .*'Elem"):
            petrel.export(model("affine"), backend=Backend(), external={"sc*": "s.ptd"})


class BuildTest(unittest.TestCase):

    def test_other_weights_are_built_for_a_program(self):
        for backend in (Weights(), "xnnpack", None):
            program = petrel.export(model("affine"), backend=backend, weight_keys="name",
                                    external_weights="w.ptd")
            with tempfile.TemporaryDirectory() as folder:
                new = os.path.join(folder, "new.ptd")
                built = petrel.build_data(program.path, new, model("affine"), backend=backend)
                self.assertEqual(built["keys"], 2)
                runtime = [Runtime()] if isinstance(backend, Weights) else []
                out, = petrel.load(program.path, data=[new], backends=runtime)["forward"](X)
                numpy.testing.assert_array_equal(out, affine(X))
                tensors = os.path.join(folder, "t.safetensors")
                with open(tensors, "wb") as file:
                    file.write(safetensors({"peft.scale": SCALE}))
                built = petrel.build_data(program.path, new, tensors, keys="scale",
                                          renames={"peft.": ""}, backend=backend)
                self.assertEqual(built["keys"], 1)
                loaded = petrel.load(program.path, data=[new, program.external_paths[0]],
                                     data_order="first", backends=runtime)
                numpy.testing.assert_array_equal(loaded["forward"](X)[0], X * SCALE + 0.5)
                one = petrel.build_data(program.path, new, methods={"forward": model("affine")},
                                        keys="scale", backend=backend)
                self.assertEqual(one["keys"], 1)
                self.assertEqual([e["key"] for e in petrel.list_data(new)], ["scale"])
                with self.assertRaisesRegex(petrel.Error, "operators, literals or initial state|"
                                                          "has weight|needs|new model"):
                    petrel.build_data(program.path, new, model("glu"), backend=backend)
                other = None if backend is not None else "xnnpack"
                with self.assertRaisesRegex(petrel.Error, "backend is"):
                    petrel.build_data(program.path, new, model("affine"), backend=other)


if __name__ == "__main__":
    unittest.main()
