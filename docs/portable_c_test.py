# SPDX-License-Identifier: Apache-2.0
"""docs/portable_c.md as a reader follows it: writes its files, and runs its commands."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
PAGE = pathlib.Path("docs/portable_c.md").read_text()


class PortableCTest(unittest.TestCase):
    def test_commands_work_in_order(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        shutil.copy("examples/quickstart/digits.pt2", folder)
        for name, text in re.findall(r"`([\w.]+)`:\n\n```c\n(.*?)```", PAGE, re.DOTALL):
            (folder / name).write_text(text)
        count, printed = 0, ""
        for line in PAGE.splitlines():
            if not re.match(r"    (petrel|cc|\./)", line):
                continue
            words = shlex.split(line)
            if words[0] == "petrel":
                words[0] = PETREL
            done = subprocess.run(words, cwd=folder, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}")
            printed += done.stdout
            count += 1
        self.assertEqual(count, 25)
        self.assertEqual(len(re.findall(r"^\d -?\d+\.\d+$", printed, re.MULTILINE)), 10)

    def test_refusals_say_what_the_page_says(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        shutil.copy("examples/quickstart/digits.pt2", folder)
        refusals = re.findall(r"```text\n\$ petrel (.*)\n(.*)\n```", PAGE)
        self.assertEqual(len(refusals), 1)
        for words, message in refusals:
            done = subprocess.run([PETREL, *shlex.split(words)], cwd=folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, message + "\n")
        self.assertEqual([f.name for f in folder.iterdir()], ["digits.pt2"])

    def test_math_functions_are_those_that_the_sources_call(self):
        called = set()
        for file in pathlib.Path("runtime/micro").rglob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
            called.update(re.findall(r"\b([a-z]+)\(", text))
        listed = re.search(r"Of `math.h` only .*? used:\s+(.*?)\. Compile", PAGE, re.DOTALL).group(1)
        known = {"sqrt", "floor", "ceil", "trunc", "fmod", "frexp", "ldexp", "fabs", "copysign",
                 "signbit", "rint", "nearbyint", "round", "exp", "log", "sin", "cos", "pow", "tanh"}
        self.assertLessEqual(called & known, set(re.findall(r"`(\w+)`", listed)))


if __name__ == "__main__":
    unittest.main()
