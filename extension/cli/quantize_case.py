# SPDX-License-Identifier: Apache-2.0
"""What the tests of `petrel quantize` share: the command, samples of digits, and noise."""

import math
import os
import pathlib
import subprocess
import tempfile
import unittest
import zipfile

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
IMAGES = pathlib.Path("examples/quickstart/digits.bin").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()

PIXELS = 64


def images():
    """(pixels, digit) of each held-out image."""
    data = IMAGES.read_bytes()
    rows = [data[i:i + PIXELS + 1] for i in range(0, len(data), PIXELS + 1)]
    return [([p / 16 for p in row[:PIXELS]], row[PIXELS]) for row in rows]


class QuantizeCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.images = images()

    def petrel(self, *arguments):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *arguments):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refuses(self, code, *arguments):
        """What is said; no file is left."""
        before = sorted(self.folder.iterdir())
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return result.stderr

    def samples(self, name, rows, shape=(1, 1, 8, 8), dtype="<f4"):
        values = [p for row in rows for p in row]
        (self.folder / name).write_bytes(npy_file.written(dtype, (len(rows), *shape), values))

    def archive(self, name, arrays, method=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / name, "w", method) as file:
            for key, content in arrays.items():
                file.writestr(key + ".npy", content)

    def right(self, program):
        """How many of the held-out images a program tells."""
        calls = []
        for i, (pixels, _) in enumerate(self.images):
            (self.folder / f"i{i}.npy").write_bytes(npy_file.written("<f4", (1, 1, 8, 8), pixels))
            calls += ["--call", f"forward:i{i}.npy"]
        self.done("run", program, *calls, "--output-dir", "out")
        right = 0
        for i, (_, digit) in enumerate(self.images):
            scores = npy_file.read_elements(self.folder / "out" / f"call_{i}_output_0.npy")
            right += scores.index(max(scores)) == digit
        return right

    def outputs_of_samples(self, program, file, shape):
        """Those of all samples in a file, one after another."""
        values = npy_file.read_elements(file)
        size = math.prod(shape)
        calls = []
        for i in range(len(values) // size):
            (self.folder / f"x{i}.npy").write_bytes(
                npy_file.written("<f4", shape, values[size * i:size * (i + 1)]))
            calls += ["--call", f"forward:x{i}.npy"]
        self.done("run", program, *calls, "--output-dir", "out")
        return [value for i in range(len(values) // size)
                for value in npy_file.read_elements(self.folder / "out" / f"call_{i}_output_0.npy")]

    def noise_of_eager(self, program, fixture):
        """The signal of eager torch's first output to the program's noise, in dB."""
        inputs = sorted(LAYERS.glob(f"{fixture}.input_*.npy"))
        self.done("run", program, *(w for path in inputs for w in ("--input", path)),
                  "--output-dir", "out")
        wanted = npy_file.read_elements(LAYERS / f"{fixture}.output_0.npy")
        made = npy_file.read_elements(self.folder / "out" / "output_0.npy")
        noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
        return 10 * math.log10(sum(a * a for a in wanted) / noise)
