# SPDX-License-Identifier: Apache-2.0
"""Every archive of test/models/layers through `petrel export` and `petrel run`:
with kernels alone and with XNNPACK the results are those of eager torch."""

import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()


def read(path):
    """dtype, shape and elements of an .npy file."""
    array = npy_file.read(path)
    return array.dtype, array.shape, npy_file.elements(array)


class LayersTest(unittest.TestCase):
    def run_layer(self, name, backend):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        inputs = [w for f in sorted(LAYERS.glob(f"{name}.input_*.npy")) for w in ("--input", f)]
        for words in (["export", LAYERS / f"{name}.pt2", "-o", "m.pte", "--backend", backend],
                      ["run", "m.pte", *inputs, "--output-dir", "out"]):
            done = subprocess.run([PETREL, *map(str, words)], cwd=folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
        expected = list(LAYERS.glob(f"{name}.output_*.npy"))
        self.assertEqual(len(list((folder / "out").iterdir())), len(expected))
        for file in expected:
            self.compare(file.name, read(folder / "out" / file.name.split(".", 1)[1]), read(file))

    def compare(self, name, actual, expected):
        self.assertEqual(actual[:2], expected[:2], name)
        largest = max((abs(e) for e in expected[2] if math.isfinite(e)), default=0)
        for i, (a, e) in enumerate(zip(actual[2], expected[2])):
            if isinstance(e, float) and math.isfinite(e):
                self.assertLessEqual(abs(a - e), 1e-4 * largest, f"{name} element {i}")
            else:
                self.assertTrue(a == e or (a != a and e != e), f"{name} element {i}: {a}, not {e}")

    def test_layers_agree_with_eager_torch(self):
        names = sorted(f.stem for f in LAYERS.glob("*.pt2"))
        self.assertGreater(len(names), 25)
        for name in names:
            for backend in ("none", "xnnpack"):
                with self.subTest(layer=name, backend=backend):
                    self.run_layer(name, backend)


if __name__ == "__main__":
    unittest.main()
