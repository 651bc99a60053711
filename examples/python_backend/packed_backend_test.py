# SPDX-License-Identifier: Apache-2.0
"""One blob of all weights of two methods: sent to a file, made of other weights, swapped."""

import pathlib
import tempfile
import unittest
import zipfile

import numpy
import petrel
from packed_backend import PackedBackend, PackedRuntime

TESTDATA = pathlib.Path("extension/python/test/testdata")
MODELS = {"forward": TESTDATA / "affine.pt2", "twice": TESTDATA / "affine_two_parts.pt2"}
X = numpy.array([1, -2, 3, 0.5], numpy.float32)


def negated(archive, path):
    """The model with all its weights of four floats negated."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(path, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if "/data/weights/" in item.filename and len(data) == X.nbytes:
                data = (-numpy.frombuffer(data, numpy.float32)).tobytes()
            new.writestr(item.filename, data)
    return path


def outputs(program):
    return [program[method](X)[0].tolist() for method in MODELS]


def as_kernels(models):
    return outputs(petrel.load(petrel.export(methods=models, backend=None)))


class PackedBackendTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def load(self, program, **options):
        return petrel.load(program, backends=[PackedRuntime()], **options)

    def test_weights_inside_compute_what_kernels_do(self):
        for keys in ("content", "name"):
            program = petrel.export(methods=MODELS, backend=PackedBackend(), weight_keys=keys)
            numpy.testing.assert_allclose(outputs(self.load(program)), as_kernels(MODELS), 1e-6)

    def test_the_blob_is_sent_to_a_file_made_of_other_weights_and_swapped(self):
        program = petrel.export(methods=MODELS, backend=PackedBackend(), weight_keys="name",
                                external={"s*": "first.ptd"})
        program.save(self.folder / "model.pte")
        first, second = self.folder / "first.ptd", self.folder / "second.ptd"
        self.assertEqual([entry["key"] for entry in petrel.list_data(first)], ["packed@made_1"])
        new = {name: negated(path, self.folder / f"{name}.pt2") for name, path in MODELS.items()}
        built = petrel.build_data(self.folder / "model.pte", second, methods=new,
                                  backend=PackedBackend())
        self.assertEqual(built["keys"], 1)

        loaded = self.load(self.folder / "model.pte", data=[first])
        before, after = as_kernels(MODELS), as_kernels(new)
        self.assertNotEqual(before, after)
        numpy.testing.assert_allclose(outputs(loaded), before, 1e-6)
        replaced = loaded.replace_data([second])
        self.assertEqual((replaced["keys"], replaced["changed"]), (1, 1))
        numpy.testing.assert_allclose(outputs(loaded), after, 1e-6)

    def test_weights_of_one_blob_go_to_one_file(self):
        with self.assertRaisesRegex(petrel.Error, "'packed' is made of weight .*'a.ptd'.*program"):
            petrel.export(methods=MODELS, backend=PackedBackend(), external={"scale": "a.ptd"})


if __name__ == "__main__":
    unittest.main()
