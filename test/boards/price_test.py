# SPDX-License-Identifier: Apache-2.0
"""The price of running row by row that gen-c tells, beside the instructions that an emulated
Cortex-M4 counts: together they are off by less than 4 % of a run."""

import json
import pathlib
import re
import subprocess
import unittest

import board_case

INTEGER = pathlib.Path("test/quantized/integer").absolute()
BOARD = "qemu-mps2-an386"
# Its timer has 25 MHz, and an instruction takes 64 ns under -icount shift=6.
TICKS_OF_INSTRUCTION = 25e6 * 64e-9
MOST_ERROR = 0.04


class PriceTest(board_case.BoardCase):

    def instructions(self, name, *words):
        self.setUp()
        made = subprocess.run([str(w) for w in (
            board_case.PETREL, "gen-c", INTEGER / f"{name}.pt2", "--int8", "integer", "--io-dtype", "int8",
            "--target", "cortex-m4", *words, "-o", "c", "--name", "net")], cwd=self.folder, text=True,
                              stderr=subprocess.PIPE, check=True)
        self.build(BOARD)
        told, _ = self.run_on(BOARD, [])
        (method,) = json.loads((self.folder / "c/manifest.json").read_text())["methods"]
        ticks = int(re.search(r"time: (\d+) ticks", told).group(1))
        return made.stderr, ticks / TICKS_OF_INSTRUCTION, method["blocks"]

    def test_what_is_told_is_what_is_counted(self):
        for name, limit in (("blocks_1", 3200), ("blocks_3", 4600)):
            with self.subTest(name):
                _, alone, blocks = self.instructions(name)
                self.assertEqual(blocks, [])
                said, together, blocks = self.instructions(name, "--max-arena-bytes", limit)
                prices = [block["more_instructions"] for block in blocks]
                self.assertTrue(prices)
                for price in prices:
                    self.assertIn(f"about {abs(price)} instructions {'less' if price < 0 else 'more'}",
                                  said)
                print(f"{name}: {alone:.0f} one by one, {together - alone:+.0f} row by row, "
                      f"told {sum(prices):+d}", flush=True)
                self.assertLess(abs(together - alone - sum(prices)), MOST_ERROR * alone)


if __name__ == "__main__":
    unittest.main()
