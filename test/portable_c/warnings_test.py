# SPDX-License-Identifier: Apache-2.0
"""What people who read code before they ship it ask of every file that gen-c writes, whatever the
options: gcc warns of nothing, as C99, C11 and C++17; headers have comments that C90 reads; names
begin with those of the package."""

import os
import pathlib
import tempfile
import unittest

import compiler_warnings
import every_option
import package
from command import done


# Of the package, of what all packages share, and of the driver of a device.
PREFIXES = ("net_", "petrel_", "null_npu_")


class WarningsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.packages = [made.write(folder) for made in every_option.OPTIONS]

    def test_gcc_warns_of_nothing(self):
        # C++ takes longer for this header than for a package; C shows who includes it.
        system = self.packages[0].parent / "system.h"
        system.write_text("#include <math.h>\n")
        commands = compiler_warnings.dialects("gcc", ["g++", "-include", system])
        flags = commands[2][commands[2].index("c++") + 1:]
        done(["g++", *flags, "-x", "c++-header", system], system.parent)
        for folder in self.packages:
            with self.subTest(folder.name):
                compiler_warnings.check(folder, commands)

    # Of what is not set, which it looks for when it optimises alone.
    def test_gcc_warns_of_nothing_that_it_optimises(self):
        for folder in self.packages:
            if folder.name not in ("frames", "plain", "tokens", "varying"):
                continue
            with self.subTest(folder.name):
                done(["gcc", "-std=c99", "-Os", *package.WARNINGS, f"-I{folder}", "-S", "-o",
                      "/dev/null", folder / "net.c"], folder)

    def test_comments_are_those_that_c90_has(self):
        for folder in self.packages:
            for file in (*folder.glob("*.h"), *folder.glob("*.c")):
                if file.name == "petrel_model_view.h":
                    continue
                with self.subTest(f"{folder.name}/{file.name}"):
                    self.assertNotIn("//", compiler_warnings.without_texts(file.read_text()))

    def test_names_are_those_of_the_package(self):
        for folder in self.packages:
            for file in folder.glob("net*.[ch]"):
                with self.subTest(f"{folder.name}/{file.name}"):
                    self.assertEqual(compiler_warnings.odd_names(file.read_text(), PREFIXES), set())


if __name__ == "__main__":
    unittest.main()
