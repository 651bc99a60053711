# SPDX-License-Identifier: Apache-2.0
"""Models that are hard to write as C: numbers that no double holds, names that C has taken or
that would leave their comment, outputs that come twice, indices that never are 0."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import arrays
import package
from command import PETREL, done

PORTABLE = pathlib.Path("test/models/portable").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()


class OddModelsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def inputs(self, name):
        return sorted(PORTABLE.glob(f"{name}.input_*.npy"))

    def package(self, name, **more):
        return package.Package(self.folder, "kws", [("forward", PORTABLE / f"{name}.pt2")], **more)

    def check(self, name):
        """As the interpreter and as eager torch computed it; bit for bit, all are exact."""
        built = self.package(name)
        actual = built.run("forward", [arrays.read(f).data for f in self.inputs(name)])
        expected = arrays.interpreted(self.folder, PORTABLE / f"{name}.pt2", self.inputs(name))
        self.assertEqual(len(actual), len(list(PORTABLE.glob(f"{name}.output_*.npy"))))
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")
            eager = arrays.read(PORTABLE / f"{name}.output_{i}.npy")
            self.assertTrue(arrays.same(a, eager), f"output {i} differs from eager torch")
        built.selftest()
        return built

    def names(self, built, role):
        return [(t["name"], t["c_name"]) for t in built.manifest["methods"][0][role]]

    def gen(self, *words, **more):
        return subprocess.run([PETREL, "gen-c", *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def test_integers_that_no_double_holds(self):
        self.check("large_integers")

    def test_nothing_to_reduce(self):
        self.check("nothing_reduced")


if __name__ == "__main__":
    unittest.main()
