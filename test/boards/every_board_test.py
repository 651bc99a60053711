# SPDX-License-Identifier: Apache-2.0
"""Many models on every board that is shipped: bit for bit the interpreter. .ci/nightly runs it."""

import pathlib
import re
import subprocess
import unittest
import zipfile

import board_case

LAYERS = pathlib.Path("test/models/layers").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
VARYING = pathlib.Path("test/models/varying").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
PROGRAMS = pathlib.Path("test/quantized/programs").absolute()

FLOATS = [(LAYERS, ("activations", "attention", "conv_transposed", "embedding", "gru", "lstm",
                    "norms", "pools", "resize", "statistics")),
          (PORTABLE, ("windows", "planes", "large_integers"))]
# What has memory for floats.
LARGE = ("host", "qemu-mps2-an386", "qemu-mps2-an500", "qemu-riscv32")


class EveryBoardTest(board_case.BoardCase):

    def check(self, model, given, boards, words=()):
        self.setUp()
        want = self.interpreted(model, given, *words)
        self.generate(model, *words)
        for board in boards:
            with self.subTest(model=model.stem, board=board):
                self.build(board)
                _, got = self.run_on(board, given)
                self.check_same(got, want, f"{model.stem} on {board}")

    def test_integers_alone(self):
        for name in ("keywords", "autoencoder", "many"):
            self.check(INTEGER / f"{name}.pt2", [INTEGER / f"{name}.input.npy"], board_case.ALL,
                       ("--int8", "integer"))

    def test_quantised_models_in_floats(self):
        for name in ("rows", "mixed", "image_channel", "image_tensor"):
            self.check(PROGRAMS / f"{name}.pt2", [PROGRAMS / f"{name}.input.npy"], LARGE)

    def test_floats(self):
        for folder, names in FLOATS:
            for name in names:
                self.check(folder / f"{name}.pt2", sorted(folder.glob(f"{name}.input_*.npy")), LARGE)

    def test_sizes_that_vary(self):
        for name in ("cnn_batch", "cnn_image"):
            given = sorted(VARYING.glob(f"{name}.call_1.input_*.npy"))
            self.check(VARYING / f"{name}.pt2", given, LARGE)

    def test_the_host_drives_every_board(self):
        model, given = INTEGER / "keywords.pt2", INTEGER / "keywords.input.npy"
        want = self.interpreted(model, [given], "--int8", "integer")
        self.generate(model, "--int8", "integer", "--device-rpc")
        for board in board_case.ALL:
            with self.subTest(board):
                place = f"host drives {board}"
                self.petrel("project", "create", "--board", board, "--model", "c", "-o", place)
                said = self.petrel("project", "build", place, "--driver", "host_driven")
                device = re.search(r"^--device '(.*)'$", said, re.M).group(1)
                self.petrel("run", "--device", device, "--input", given, "--output-dir",
                            f"{board}.driven")
                self.check_same(self.arrays(f"{board}.driven"), want, board)

    def test_cmake_builds_an_archive(self):
        model = INTEGER / "autoencoder.pt2"
        self.generate(model, "--int8", "integer", "--package", "net.zip")
        with zipfile.ZipFile(self.folder / "net.zip") as archive:
            archive.extractall(self.folder / "net")
        for words in (["cmake", "-S", "net", "-B", "b"],
                      ["cmake", "--build", "b", "--target", "net_selftest"], ["b/net_selftest"]):
            subprocess.run(words, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main()
