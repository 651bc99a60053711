# SPDX-License-Identifier: Apache-2.0
"""Every archive of test/models/layers as C: bit for bit what the interpreter computes with
the reference kernels, and close to eager torch."""

import math
import os
import pathlib
import shutil
import tempfile
import unittest

import arrays
import npy_file
import package

LAYERS = pathlib.Path("test/models/layers").absolute()

# What does not exist in C yet, with what the refusal says.
MISSING = {
}


class LayersTest(unittest.TestCase):
    def run_layer(self, name, folder):
        inputs = sorted(LAYERS.glob(f"{name}.input_*.npy"))
        layer = package.Package(folder, "layer", [("forward", LAYERS / f"{name}.pt2")])
        actual = layer.run("forward", [npy_file.read(f).data for f in inputs])
        expected = arrays.interpreted(folder, LAYERS / f"{name}.pt2", inputs)
        self.assertEqual(len(actual), len(expected))
        for i, (a, e) in enumerate(zip(actual, expected)):
            self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")
            self.compare(npy_file.Array(e.dtype, e.shape, a),
                         npy_file.read(LAYERS / f"{name}.output_{i}.npy"), i)
        layer.selftest()

    def compare(self, actual, eager, i):
        self.assertEqual(actual[:2], eager[:2])
        a, e = npy_file.elements(actual), npy_file.elements(eager)
        largest = max((abs(v) for v in e if math.isfinite(v)), default=0)
        for x, y in zip(a, e):
            if isinstance(y, float) and math.isfinite(y):
                self.assertLessEqual(abs(x - y), 1e-4 * largest, f"output {i}")
            else:
                self.assertTrue(x == y or (x != x and y != y), f"output {i}: {x}, not {y}")

    def test_layers_agree_with_the_interpreter_and_with_eager_torch(self):
        for name in sorted(f.stem for f in LAYERS.glob("*.pt2")):
            folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
            with self.subTest(layer=name):
                if name not in MISSING:
                    self.run_layer(name, folder)
                    continue
                with self.assertRaises(AssertionError) as refused:
                    self.run_layer(name, folder)
                self.assertIn(MISSING[name], str(refused.exception))
            shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main()
