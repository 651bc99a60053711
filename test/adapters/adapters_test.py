# SPDX-License-Identifier: Apache-2.0
"""Adapters over one base, as one who trained them uses them: torch wrote them as
safetensors, the archive of the model is gone, and what eager torch computes is wanted.
test/perf/adapters.py measures the same with a large base."""

import pathlib
import shutil
import tempfile
import unittest

import numpy
import petrel

FIXTURES = pathlib.Path("test/adapters/fixtures")
X = numpy.load(FIXTURES / "input.npy")
RULES = {"*lora*": "zeros.ptd", "*": "base.ptd"}
# Of int8, a sum between two levels goes to one or the other.
TOLERANCE = {"float": 1e-5, "int8": 0.03}


def expected(precision, name):
    return numpy.load(FIXTURES / f"{precision}.{name}.npy")


class AdaptersTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def prepared(self):
        """Programs whose base and first adapter lie in files, and files of two adapters."""
        for precision in TOLERANCE:
            for backend in ("xnnpack", None):
                work = self.folder / f"{precision}-{backend}"
                work.mkdir()
                archive = shutil.copy(FIXTURES / f"{precision}.pt2", work)
                petrel.export(archive, backend=backend, weight_keys="name",
                              external=RULES).save(work / "model.pte")
                pathlib.Path(archive).unlink()
                for name in ("one", "two"):
                    built = petrel.build_data(
                        work / "model.pte", work / f"{name}.ptd", FIXTURES / f"{name}.safetensors",
                        keys="*lora*", renames={"base_model.model.": ""})
                    self.assertEqual(built["keys"], 4)
                yield precision, work

    def load(self, work, adapter):
        return petrel.load(work / "model.pte", data=[work / "base.ptd", work / f"{adapter}.ptd"])

    def assert_is(self, precision, name, output):
        def error(other):
            return numpy.abs(output - expected(precision, other)).max()

        self.assertLessEqual(error(name), TOLERANCE[precision])
        for other in {"base", "one", "two"} - {name}:
            self.assertGreater(error(other), 10 * TOLERANCE[precision])

    def test_every_adapter_gives_what_the_merged_model_gives(self):
        for precision, work in self.prepared():
            for adapter, name in (("zeros", "base"), ("one", "one"), ("two", "two")):
                with self.subTest(work=work.name, adapter=adapter):
                    output, = self.load(work, adapter)["forward"](X)
                    self.assert_is(precision, name, output)

    def test_a_swap_gives_the_same_bits_as_a_load(self):
        for precision, work in self.prepared():
            wanted = {name: self.load(work, name)["forward"](X)[0].tobytes()
                      for name in ("zeros", "one", "two")}
            program = self.load(work, "zeros")
            other = self.load(work, "one")  # over the same base at the same time
            for name in ("one", "two", "zeros", "two"):
                with self.subTest(work=work.name, adapter=name):
                    replaced = program.replace_data([work / f"{name}.ptd"], "*lora*")
                    self.assertEqual((replaced["keys"], replaced["changed"]), (4, 4))
                    self.assertEqual(program["forward"](X)[0].tobytes(), wanted[name])
                    self.assertEqual(other["forward"](X)[0].tobytes(), wanted["one"])
            with self.assertWarnsRegex(UserWarning, "changes no weight"):
                same = program.replace_data([work / "two.ptd"], "*lora*")
            self.assertEqual(same["changed"], 0)
            self.assertEqual(program["forward"](X)[0].tobytes(), wanted["two"])

    def test_an_adapter_of_another_rank_is_refused_and_changes_nothing(self):
        for precision, work in self.prepared():
            program = self.load(work, "one")
            before = program["forward"](X)[0].tobytes()
            wrong = {entry["key"]: numpy.zeros(64 * 5, numpy.float32)
                     for entry in petrel.list_data(work / "one.ptd")}
            with self.assertRaisesRegex(petrel.Error, "lora"):
                program.replace_data([Map(wrong)], "*lora*")
            self.assertEqual(program["forward"](X)[0].tobytes(), before)


class Map(petrel.NamedDataMap):

    def __init__(self, data):
        self.data = data

    def get_data(self, key):
        return self.data[key]

    def keys(self):
        return self.data.keys()


if __name__ == "__main__":
    unittest.main()
