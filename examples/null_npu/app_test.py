# SPDX-License-Identifier: Apache-2.0
"""The app as its comment says: generated, compiled and run, with a device that works on its own
view of the memory it shares. It prints what eager PyTorch computes."""

import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

HERE = pathlib.Path("examples/null_npu").absolute()
PETREL = HERE / "petrel"


def floats(path):
    data = path.read_bytes()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return data, struct.unpack(f"<{len(data) // 4}f", data)


class AppTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        for name in ("app.c", "npu_driver.c", "npu_driver.h", "net.pt2"):
            shutil.copy(HERE / name, self.folder)

    def done(self, words, **more):
        result = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout.decode()

    def run_app(self):
        text = (HERE / "app.c").read_text().replace("\\\n *  ", "")
        commands = re.findall(r"^ \*   (.+)$", text, re.MULTILINE)
        self.assertEqual(commands.pop(), "./app < input")
        for command in commands:
            words = shlex.split(command)
            self.done([PETREL if words[0] == "petrel" else words[0], *words[1:]])
        ran = self.done(["./app"], input=floats(HERE / "net.input.npy")[0])
        return [float(line) for line in ran.split()]

    def test_computes_what_eager_does(self):
        expected = floats(HERE / "net.output.npy")[1]
        for actual, value in zip(self.run_app(), expected, strict=True):
            self.assertAlmostEqual(actual, value, delta=1e-6)

    def test_needs_its_cache_to_be_flushed_and_fetched(self):
        expected = floats(HERE / "net.output.npy")[1]
        app = self.folder / "app.c"
        whole = app.read_text()
        self.run_app()  # generates
        for line in re.findall(r"^  memcpy.*\n", whole, re.MULTILINE):
            app.write_text(whole.replace(line, "  (void)bytes;\n  (void)data;\n"))
            self.done(["cc", "-std=c99", "-O1", "-Inet_c", "app.c", "npu_driver.c", "net_c/net.c",
                       "net_c/net_params.c", "-lm", "-o", "stale"])
            printed = self.done(["./stale"], input=floats(HERE / "net.input.npy")[0]).split()
            self.assertGreater(max(abs(float(a) - e) for a, e in zip(printed, expected)), 1e-3)


if __name__ == "__main__":
    unittest.main()
