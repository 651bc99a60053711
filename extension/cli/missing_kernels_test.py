# SPDX-License-Identifier: Apache-2.0
"""Exports of programs that the exporting command could not run."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

FEW = pathlib.Path("extension/cli/petrel_with_few_kernels").absolute()
ALL = pathlib.Path("extension/cli/petrel").absolute()
RULE = pathlib.Path("extension/cli/embedding_for_others.pte").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
KERNEL = "aten::embedding.out"


class MissingKernelsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def run_command(self, command, *words):
        return subprocess.run([command, *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def export(self, command, *words):
        return self.run_command(command, "export", LAYERS / "embedding.pt2", "-o", "m.pte",
                                "--backend", "none", *words)

    def test_a_kernel_that_is_missing_is_named_and_nothing_is_written(self):
        done = self.export(FEW)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, rf"missing: .*{KERNEL} of \S+, \S+ \(1 call in method "
                         r"'forward' by node '\w+' \(aten\.embedding\.default\) at \S+\.py:\d+")
        self.assertIn("allow missing kernels", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_told_so_it_is_written_with_a_word(self):
        done = self.export(FEW, "--allow-missing-kernels", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning", done.stderr)
        missing = json.loads(done.stdout)["methods"][0]["missing_kernels"]
        self.assertIn(KERNEL, [each["kernel"] for each in missing])
        for program in ("m.pte", RULE):
            run = ("run", program, "--input", LAYERS / "embedding.input_0.npy")
            self.assertEqual(self.run_command(FEW, *run).returncode, 1)
            done = self.run_command(ALL, *run)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_command_with_all_kernels_says_nothing(self):
        done = self.export(ALL, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["methods"][0]["missing_kernels"], [])


if __name__ == "__main__":
    unittest.main()
