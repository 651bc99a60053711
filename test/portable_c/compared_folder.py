# SPDX-License-Identifier: Apache-2.0
"""A test of every archive of a folder as C: bit for bit what the interpreter computes with the
reference kernels, and close to eager torch.

    class LayersTest(compared_folder.ComparedFolder, unittest.TestCase):
        models = pathlib.Path("test/models/layers").absolute()
"""

import math
import os
import pathlib
import shutil
import tempfile

import arrays
import npy_file
import package


class ComparedFolder:
    models = None  # NAME.pt2, NAME.input_I.npy, NAME.output_O.npy

    def run_program(self, name, folder):
        inputs = sorted(self.models.glob(f"{name}.input_*.npy"))
        built = package.Package(folder, "layer", [("forward", self.models / f"{name}.pt2")],
                                ["--planner", "search"])
        given = [npy_file.read(f).data for f in inputs]
        actual = built.run("forward", given)
        self.assertEqual(built.run("forward!", given), actual)
        expected = arrays.interpreted(folder, self.models / f"{name}.pt2", inputs)
        self.assertEqual(len(actual), len(list(self.models.glob(f"{name}.output_*.npy"))))
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")
            self.compare(npy_file.Array(e.dtype, e.shape, a),
                         npy_file.read(self.models / f"{name}.output_{i}.npy"), i)
        built.selftest()

    def compare(self, actual, eager, i):
        self.assertEqual(actual[:2], eager[:2])
        a, e = npy_file.elements(actual), npy_file.elements(eager)
        largest = max((abs(v) for v in e if math.isfinite(v)), default=0)
        for x, y in zip(a, e, strict=True):
            if isinstance(y, float) and math.isfinite(y):
                self.assertLessEqual(abs(x - y), 1e-4 * largest, f"output {i}")
            else:
                self.assertTrue(x == y or (x != x and y != y), f"output {i}: {x}, not {y}")

    def test_programs_agree_with_the_interpreter_and_with_eager_torch(self):
        names = sorted(f.stem for f in self.models.glob("*.pt2"))
        self.assertGreater(len(names), 10)
        for name in names:
            folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
            with self.subTest(program=name):
                self.run_program(name, folder)
            shutil.rmtree(folder)
