# SPDX-License-Identifier: Apache-2.0
"""`petrel project tune` on emulated boards, which count instructions: what it finds is measured
again, is the same each time, and computes the same bits. Prints what it found. .ci/nightly runs it."""

import json
import pathlib
import re
import shutil
import unittest

import board_case

INTEGER = pathlib.Path("test/quantized/integer").absolute()
CASES = (("keywords", "qemu-mps2-an386", "cortex-m4"), ("keywords", "qemu-microbit", "generic"),
         ("autoencoder", "qemu-mps2-an386", "cortex-m4"), ("autoencoder", "qemu-microbit", "generic"),
         ("keywords", "qemu-mps3-an547", "cortex-m55"))


class TuneTest(board_case.BoardCase):

    def ticks(self, board, words, given, want):
        """Of a whole run of the model in the folder c."""
        self.petrel("gen-c", *words, "--board", board, "-o", "c", "--name", "net")
        self.petrel("project", "create", "--board", board, "--model", "c", "-o", "run")
        self.petrel("project", "build", "run")
        said = self.petrel("project", "run", "run", "--input", given, "--output-dir", "got")
        self.check_same(self.arrays("got"), want, "tuned or not")
        return int(re.search(r"time: (\d+) ticks", said).group(1))

    def test_tuning(self):
        for name, board, target in CASES:
            with self.subTest(model=name, board=board):
                self.setUp()
                model, given = INTEGER / f"{name}.pt2", INTEGER / f"{name}.input.npy"
                words = (model, "--int8", "integer", "--target", target)
                want = self.interpreted(model, [given], "--int8", "integer")
                before = self.ticks(board, words, given, want)
                self.petrel("project", "create", "--board", board, "--model", "c", "-o", "p")
                said = self.petrel("project", "tune", "p", *words, "-o", "a.json")
                print(f"{name} on {board}\n{said}", flush=True)
                self.petrel("project", "tune", "p", *words, "-o", "b.json")
                self.assertEqual((self.folder / "a.json").read_bytes(),
                                 (self.folder / "b.json").read_bytes())
                record = json.loads((self.folder / "a.json").read_text())
                for node in record["nodes"]:
                    least = min(node["ticks"].values())
                    self.assertLessEqual(0.995 * node["ticks"][node["variant"]], least, node)
                for folder in ("run", "c", "got"):
                    shutil.rmtree(self.folder / folder)
                after = self.ticks(board, (*words, "--tuning", "a.json"), given, want)
                print(f"a whole run: {before} ticks before, {after} after", flush=True)
                if any(node["variant"] != node["target_variant"] for node in record["nodes"]):
                    self.assertLess(after, before)
                else:
                    self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
