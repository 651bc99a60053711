# SPDX-License-Identifier: Apache-2.0
"""Programs of complex numbers compute what eager torch does, as kernels and in XNNPACK."""

import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = "extension/cli/petrel"
MODELS = pathlib.Path("test/models/complex")
TOLERANCE = 5e-6  # of the largest value


def run(*words):
    return subprocess.run([PETREL, *map(str, words)], capture_output=True, text=True, check=False)


class ComplexTest(unittest.TestCase):

    def compare(self, archive, *options):
        name = archive.name.split(".")[0]
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / f"{name}.pte"
            made = run("export", archive, "-o", program, *options)
            self.assertEqual(made.returncode, 0, made.stderr)
            inputs = [w for path in sorted(MODELS.glob(f"{name}.input_*.npy"))
                      for w in ("--input", path)]
            ran = run("run", program, *inputs, "--output-dir", folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            count = len(list(MODELS.glob(f"{name}.output_*.npy")))
            self.assertGreater(count, 0)
            for i in range(count):
                expected_array = npy_file.read(MODELS / f"{name}.output_{i}.npy")
                made_array = npy_file.read(pathlib.Path(folder) / f"output_{i}.npy")
                self.assertEqual(made_array[:2], expected_array[:2])  # type and sizes
                wanted, actual = map(npy_file.elements, (expected_array, made_array))
                largest = max(map(abs, wanted))
                self.assertGreater(largest, 0.01)  # an output that says something
                worst = max(abs(a - w) for a, w in zip(actual, wanted, strict=True))
                self.assertLess(worst, TOLERANCE * max(1, largest), f"output {i}")

    def test_all_models(self):
        archives = sorted(set(MODELS.glob("*.pt2")) - set(MODELS.glob("refused_*")))
        self.assertEqual(len(archives), 18)
        for archive in archives:
            for options in (["--backend", "none"], ["--backend", "xnnpack"]):
                with self.subTest(archive.name, options=options):
                    self.compare(archive, *options)

    def test_what_cannot_be_compiled_is_named(self):
        for name, reason in (
                ("input", "input 'x': is a tensor of complex numbers"),
                ("output", "output 0: 'mul' is a tensor of complex numbers"),
                ("function", "(aten.relu.default) at test/models/make_complex_fixtures.py"),
                ("size", "transforms 5000 elements, must be 1 to 2048")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                made = run("export", MODELS / f"refused_{name}.pt2", "-o", f"{folder}/x.pte")
                self.assertEqual(made.returncode, 1)
                self.assertIn(reason, made.stderr)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
