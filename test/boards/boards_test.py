# SPDX-License-Identifier: Apache-2.0
"""A handful of models on emulated boards; every_board_test runs many on all of them."""

import json
import pathlib
import unittest

import board_case

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
TIMER = pathlib.Path("test/boards/timer.c").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()


class BoardsTest(board_case.BoardCase):

    def test_integers_alone_on_every_arm_board(self):
        words = ("--int8", "integer")
        for name in ("keywords", "autoencoder"):
            model, given = INTEGER / f"{name}.pt2", [INTEGER / f"{name}.input.npy"]
            self.setUp()
            want = self.interpreted(model, given, *words)
            self.generate(model, *words)
            for board in board_case.ARM:
                with self.subTest(model=name, board=board):
                    self.build(board)
                    said, got = self.run_on(board, given)
                    self.check_same(got, want, f"{name} on {board}")
                    self.assertRegex(said, r"\ntime: [1-9]\d* ticks .*\nstack: [1-9]\d* of \d+ bytes")

    def test_floats_on_a_board(self):
        self.generate(DIGITS, "--board", "qemu-mps3-an547", "--reorder")
        self.build("qemu-mps3-an547")
        _, got = self.run_on("qemu-mps3-an547", [DIGIT])
        self.check_same(got, self.interpreted(DIGITS, [DIGIT]), "digits")

    def test_a_firmware_too_large_is_told_by_memory_and_bytes(self):
        self.generate(INTEGER / "keywords.pt2", "--int8", "integer")
        board = '{"format": 1, "name": "tiny", "family": "nrf51", "cores": [{"name": "c"}], ' \
                '"memories": [{"name": "rom", "kind": "ro", "address": 0, "size": "4K"}, ' \
                '{"name": "ram", "kind": "rw", "address": "0x20000000", "size": "16K"}], ' \
                '"timer": {"name": "TIMER0", "width": 32, "hz": 16000000}, ' \
                '"toolchain": {"prefix": "arm-none-eabi-", "flags": ["-mthumb", "-mcpu=cortex-m0"]}}'
        (self.folder / "tiny.json").write_text(board)
        self.petrel("project", "create", "--board", "tiny.json", "--model", "c", "-o", "p")
        said = self.petrel("project", "build", "p", code=1)
        self.assertRegex(said, r"the firmware of model 'net' does not fit board 'tiny': memory 'rom' "
                               r"has 4096 bytes; \d+ are missing\n")

    def test_a_fault_is_told(self):
        self.generate(INTEGER / "autoencoder.pt2", "--int8", "integer")
        self.petrel("project", "create", "--board", "qemu-mps2-an386", "--model", "c", "-o", "p")
        board = self.folder / "p/firmware/board.c"
        text = board.read_text()
        jump = "  ((void (*)(void))0xf0000001u)();\n"
        board.write_text(text.replace("  cortex_m_count_boot();\n", jump))
        self.assertIn(jump, board.read_text())
        self.petrel("project", "build", "p")
        said = self.petrel("project", "run", "p", code=1)
        self.assertIn("the firmware ran into a fault on board 'qemu-mps2-an386'", said)

    def test_an_interrupt_would_be_a_fault(self):
        """So no run that ends well was interrupted, by its timer least of all."""
        self.generate(INTEGER / "keywords.pt2", "--int8", "integer")
        board = "qemu-stm32vldiscovery"
        self.petrel("project", "create", "--board", board, "--model", "c", "-o", "p")
        header = self.folder / "p/firmware/cortex_m.h"
        text = header.read_text()
        for old, new in (("SYSTICK_CONTROL = 5u", "SYSTICK_CONTROL = 7u"),
                         ("SYSTICK_RELOAD = 0xffffffu", "SYSTICK_RELOAD = 0xfffu")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        header.write_text(text)
        self.petrel("project", "build", "p")
        said = self.petrel("project", "run", "p", code=1)
        self.assertIn(f"the firmware ran into a fault on board '{board}'", said)

    def test_a_board_that_hangs_is_ended(self):
        self.generate(INTEGER / "autoencoder.pt2", "--int8", "integer")
        self.petrel("project", "create", "--board", "qemu-mps2-an386", "--model", "c", "-o", "p")
        board = self.folder / "p/firmware/board.c"
        board.write_text(board.read_text().replace("  cortex_m_count_boot();\n", "  for (;;) {\n  }\n"))
        self.petrel("project", "build", "p")
        said = self.petrel("project", "run", "p", "--seconds", "2", code=1)
        self.assertIn("'qemu-system-arm' did not end within 2000 ms", said)

    def test_timers_count_and_refuse_what_is_wrong(self):
        self.generate(INTEGER / "autoencoder.pt2", "--int8", "integer")
        for board in board_case.ARM:
            with self.subTest(board):
                self.petrel("project", "create", "--board", board, "--model", "c", "-o", board)
                overflows = board in ("qemu-mps3-an547", "qemu-stm32vldiscovery")
                (self.folder / board / "firmware/standalone.c").write_text(
                    f"#define OVERFLOWS {int(overflows)}\n" + TIMER.read_text())
                self.petrel("project", "build", board)
                said = self.petrel("project", "monitor", board, "--seconds", "60")
                self.assertEqual(said, "timer: good\n")

    def test_any_board_that_cmake_builds_for(self):
        self.generate(DIGITS)
        self.build("cmake-generic")
        self.assertTrue((self.folder / "cmake-generic/build/standalone.elf").exists())
        said = self.petrel("project", "run", "cmake-generic", code=1)
        self.assertIn("board 'cmake-generic' reaches no files of this machine", said)
        said = self.petrel("project", "flash", "cmake-generic", "--driver", "standalone", code=1)
        self.assertIn("names no command to flash it", said)
        board = self.folder / "cmake-generic/board.json"
        described = json.loads(board.read_text())
        described["flash"] = ["cp", "{image}", "flashed.elf"]
        board.write_text(json.dumps(described))
        self.petrel("project", "flash", "cmake-generic", "--driver", "standalone")
        self.assertEqual((self.folder / "cmake-generic/flashed.elf").read_bytes(),
                         (self.folder / "cmake-generic/build/standalone.elf").read_bytes())

    def test_the_stream_of_a_board(self):
        self.generate(INTEGER / "keywords.pt2", "--int8", "integer")
        for board in board_case.ARM:
            with self.subTest(board):
                self.build(board)
                said = self.petrel("project", "monitor", board, "--seconds", "30")
                self.assertEqual(said, "net: self-test passed\n")


if __name__ == "__main__":
    unittest.main()
