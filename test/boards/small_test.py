# SPDX-License-Identifier: Apache-2.0
"""Models on the smallest boards: keywords in the 16 KB of a micro:bit, an autoencoder with 80 KB
of constants in the 8 KB of an STM32VLDISCOVERY. Prints what was asked and what the boards said.

Outputs are bit for bit the interpreter's, and within some levels those of eager PyTorch. The
models are written by make_small_models.py. .ci/nightly runs it."""

import pathlib
import re
import unittest

import board_case
import npy_file

MODELS = pathlib.Path("test/boards/models").absolute()
WORDS = ("--int8", "integer", "--io-dtype", "int8")


class SmallTest(board_case.BoardCase):

    def petrel(self, *words, code=0):
        said = super().petrel(*words, code=code)
        print("$ petrel", *(pathlib.Path(w).name if "/" in str(w) else w for w in words))
        print(said, end="", flush=True)
        return said

    def check(self, name, board, ram, levels):
        model, given = MODELS / f"{name}.pt2", MODELS / f"{name}.input.npy"
        self.petrel("gen-c", model, "-o", "c", "--name", name, *WORDS, "--board", board)
        self.build(board)
        said = self.petrel("project", "run", board, "--floats", "--input", given, "--output-dir",
                           "got")
        self.petrel("export", model, "-o", "net.pte", "--backend", "none", *WORDS)
        self.petrel("run", "net.pte", "--kernels", "reference", "--floats", "--input", given,
                    "--output-dir", "want")
        self.check_same(self.arrays("got"), self.arrays("want"), f"{name} on {board}")
        used, size = map(int, re.search(r"stack: (\d+) of (\d+) bytes", said).groups())
        self.assertLess(used, size)
        self.assertLess(size, ram)
        eager = npy_file.read_elements(MODELS / f"{name}.output.npy")
        got = npy_file.read_elements(self.folder / "got/output_0.npy")
        step = (max(eager) - min(eager)) / 255
        self.assertLess(max(abs(a - b) for a, b in zip(got, eager, strict=True)), levels * step)

    def test_keywords_in_16_kilobytes(self):
        self.check("keywords", "qemu-microbit", 16 * 1024, 4)

    def test_an_autoencoder_in_8_kilobytes(self):
        self.check("autoencoder", "qemu-stm32vldiscovery", 8 * 1024, 4)


if __name__ == "__main__":
    unittest.main()
