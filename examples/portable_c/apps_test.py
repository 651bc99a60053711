# SPDX-License-Identifier: Apache-2.0
"""Each app as its comment says: generated, compiled and run on an image, for which it prints the
scores that the interpreter computes, bit for bit."""

import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
APPS = pathlib.Path("examples/portable_c").absolute()
QUICKSTART = pathlib.Path("examples/quickstart").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()


def floats(path):
    data = path.read_bytes()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return data, list(struct.unpack(f"<{len(data) // 4}f", data))


class AppsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.image = floats(QUICKSTART / "digit.npy")[0]

    def done(self, words, **more):
        result = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout.decode()

    def run_app(self, name):
        """The numbers that it prints, with the commands of its comment."""
        for file in APPS.iterdir():
            shutil.copy(file, self.folder)
        shutil.copy(QUICKSTART / "digits.pt2", self.folder)
        shutil.copy(LAYERS / "conv_same.pt2", self.folder)
        text = (APPS / name).read_text().replace("\\\n *  ", "")
        commands = re.findall(r"^ \*   (.+)$", text, re.MULTILINE)
        self.assertEqual(commands.pop(), "./app < image")
        for command in commands:
            words = shlex.split(command)
            self.assertIn(words[0], ("petrel", "cc"))
            self.done([PETREL if words[0] == "petrel" else "cc", *words[1:]])
        return [float(line) for line in self.done(["./app"], input=self.image).split()]

    def expected(self):
        self.done([PETREL, "export", QUICKSTART / "digits.pt2", "-o", "d.pte", "--backend", "none"])
        self.done([PETREL, "run", "d.pte", "--input", QUICKSTART / "digit.npy", "--kernels",
                   "reference", "--output-dir", "out"])
        return floats(self.folder / "out/output_0.npy")[1]

    def check(self, name):
        printed = self.run_app(name)
        self.assertEqual(struct.pack(f"<{len(printed)}f", *printed),
                         struct.pack("<10f", *self.expected()))

    def test_one_workspace(self):
        self.check("one_workspace.c")

    def test_shared_workspace(self):
        self.check("shared_workspace.c")

    def test_pinned_memories(self):
        self.check("pinned_memories.c")
        listed = self.done(["objdump", "-h", "app"])
        for section in (".bss.fast", ".bss.slow"):
            self.assertNotIn(section, listed)  # the linker has put them into .bss
        symbols = self.done(["nm", "-S", "app"])
        fast = int(re.search(r"\w+ (\w+) b fast", symbols).group(1), 16)
        self.assertLessEqual(fast, 12 * 1024)

    def test_io_in_arena(self):
        self.check("io_in_arena.c")


if __name__ == "__main__":
    unittest.main()
