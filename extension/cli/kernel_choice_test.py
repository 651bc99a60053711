# SPDX-License-Identifier: Apache-2.0
"""--kernels of `petrel run` and `petrel bench`."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
MODEL = pathlib.Path("examples/quickstart/digits.pt2").absolute()
IMAGE = pathlib.Path("examples/quickstart/digit.npy").absolute()


class KernelChoiceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.done("export", MODEL, "-o", "m.pte", "--backend", "none")

    def done(self, *arguments):
        result = subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def output(self, *options):
        self.done("run", "m.pte", "--input", IMAGE, "--output-dir", "o", *options)
        return npy_file.read_elements(self.folder / "o" / "output_0.npy")

    def test_both_compute_the_same_up_to_rounding(self):
        reference = self.output("--kernels", "reference")
        optimized = self.output("--kernels", "optimized")
        self.assertEqual(len(reference), len(optimized))
        for want, got in zip(reference, optimized):
            self.assertLess(abs(want - got), 1e-5 * (1 + abs(want)))
        # Float sums in another order: were they equal, the choice would be none.
        self.assertNotEqual(reference, optimized)

    def test_optimized_is_the_default(self):
        self.assertEqual(self.output(), self.output("--kernels", "optimized"))

    def test_threads_do_not_change_results(self):
        self.assertEqual(self.output("--threads", "1"), self.output("--threads", "3"))

    def test_bench_says_what_it_timed(self):
        for kernels in ("reference", "optimized"):
            figures = json.loads(self.done("bench", "m.pte", "--kernels", kernels, "--json",
                                           "--seconds", "0", "--min-runs", "1"))
            self.assertEqual(figures["kernels"], kernels)


if __name__ == "__main__":
    unittest.main()
