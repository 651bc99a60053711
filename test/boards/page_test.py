# SPDX-License-Identifier: Apache-2.0
"""docs/device.md, followed literally: its commands, in its order, and what it says of boards."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import board_case
import npy_file

PAGE = pathlib.Path("docs/device.md").read_text()
TUNED = re.search(r"^## Tuned for a board\n.*?(?=^## )", PAGE, re.S | re.M).group()
BOARDS = pathlib.Path("exir/board/boards").absolute()
EXAMPLE = pathlib.Path("examples/quickstart").absolute()


def commands_of(text):
    return [shlex.split(line) for line in text.splitlines()
            if line.startswith(("    apt-get ", "    petrel "))]


class PageTest(board_case.BoardCase):

    def setUp(self):
        super().setUp()
        for file in ("digits.pt2", "digit.npy"):
            shutil.copy(EXAMPLE / file, self.folder)

    def test_five_commands_lead_to_an_output_on_an_emulated_board(self):
        commands = commands_of(PAGE.replace(TUNED, ""))
        self.assertEqual(len(commands), 5)
        self.assertEqual(commands[0][:2], ["apt-get", "install"])
        # That one was run before, by `test/portable_c/compilers boards`.
        for package in commands[0][2:]:
            subprocess.run(["dpkg-query", "-W", package], check=True, stdout=subprocess.DEVNULL)
        for words in commands[1:]:
            self.assertEqual(words[0], "petrel")
            said = self.petrel(*words[1:])
        self.assertRegex(said, r"time: \d+ ticks of 25000000 Hz, \d+\.\d+ ms\n"
                               r"stack: \d+ of \d+ bytes\n")
        want = self.interpreted("digits.pt2", ["digit.npy"])
        self.check_same(self.arrays("out"), want, "docs/device.md")

    def test_a_model_is_tuned_for_a_board(self):
        commands = commands_of(TUNED)
        self.assertEqual(len(commands), 5)
        for words in commands:
            said = self.petrel(*words[1:])
            if words[1:3] == ["project", "tune"]:
                self.assertRegex(said, r"all steps: \d+ ticks of 25000000 Hz with the kernels of the "
                                       r"target, \d+ tuned; \d+ of \d+ nodes have another kernel\n")
        record = json.loads((self.folder / "digits.tuning.json").read_text())
        manifest = json.loads((self.folder / "digits_tuned/manifest.json").read_text())
        self.assertEqual({row["node"]: row["variant"] for row in manifest["methods"][0]["kernels"]},
                         {node["node"]: node["variant"] for node in record["nodes"]})
        for node in record["nodes"]:
            self.assertGreaterEqual(len(node["ticks"]), 3, node)

    def test_the_command_that_installs_is_that_of_the_board(self):
        board = json.loads((BOARDS / "qemu-mps2-an386.json").read_text())
        command = next(line for line in PAGE.splitlines() if line.startswith("    apt-get install"))
        for part in ("toolchain", "emulator"):
            words = board[part]["install"].split()
            self.assertEqual(words[:2], ["apt-get", "install"])
            self.assertLessEqual(set(words[2:]), set(command.split()))

    def test_the_table_of_boards_is_complete(self):
        shipped = {file.stem for file in BOARDS.glob("*.json")}
        told = set(re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| [^|]*\| [^|]+ \|$", PAGE, re.M))
        self.assertLessEqual(shipped, told)

    def test_the_board_file_of_the_page_is_one(self):
        text = re.search(r"```json\n(\{\n  \"format\".*?)```", PAGE, re.S).group(1)
        (self.folder / "my.json").write_text(text)
        self.assertIn("rw shared at 0x24000000, 524288 bytes",
                      self.petrel("project", "info", "--board", "my.json"))


if __name__ == "__main__":
    unittest.main()
