# SPDX-License-Identifier: Apache-2.0
"""Models on boards, and what the interpreter makes of them.

    case.generate(model, "--int8", "integer")         the folder c
    case.build("qemu-microbit")                       the project qemu-microbit
    case.run("qemu-microbit", inputs)                 its outputs, arrays of npy_file
    case.interpreted(model, inputs)                   those that they must be
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
# In the order of their cores: M4F, M7, M55, M0, M3.
ARM = ("qemu-mps2-an386", "qemu-mps2-an500", "qemu-mps3-an547", "qemu-microbit",
       "qemu-stm32vldiscovery")
ALL = ("host", *ARM, "qemu-riscv32")


class BoardCase(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *words, code=0):
        run = subprocess.run([str(PETREL), *map(str, words)], cwd=self.folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, code, f"{words}\n{run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def generate(self, model, *words):
        self.petrel("gen-c", model, "-o", "c", "--name", "net", *words)

    def build(self, board):
        self.petrel("project", "create", "--board", board, "--model", "c", "-o", board)
        return self.petrel("project", "build", board)

    def run_on(self, board, inputs, method="forward"):
        given = [word for file in inputs for word in ("--input", file)]
        said = self.petrel("project", "run", board, "--method", method, *given, "--output-dir",
                           f"{board}.out")
        return said, self.arrays(f"{board}.out")

    def arrays(self, folder):
        files = sorted((self.folder / folder).glob("output_*.npy"),
                       key=lambda f: int(f.stem.split("_")[1]))
        return [npy_file.read(file) for file in files]

    def interpreted(self, model, inputs, *words):
        given = [word for file in inputs for word in ("--input", file)]
        self.petrel("export", model, "-o", "net.pte", "--backend", "none", *words)
        self.petrel("run", "net.pte", "--kernels", "reference", *given, "--output-dir", "want")
        return self.arrays("want")

    def check_same(self, got, want, what):
        self.assertEqual(len(got), len(want), what)
        for i, (a, b) in enumerate(zip(got, want)):
            self.assertEqual((a.dtype, a.shape, a.data), (b.dtype, b.shape, b.data),
                             f"{what}: output {i} differs from the interpreter's")
