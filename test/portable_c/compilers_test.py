# SPDX-License-Identifier: Apache-2.0
"""Clang, and gcc for Cortex-M4, Cortex-M55 and RISC-V of 32 bits, warn of nothing in any file of
any package, as C99, C11 and C++17, nor does gcc in the C of all models of the tests.

  test/portable_c/compilers            installs the compilers
"""

import os
import pathlib
import tempfile
import unittest

import compiler_warnings
import every_option

ARM = ["arm-none-eabi-g++"]
RISCV = ["riscv64-unknown-elf-g++"]


class CompilersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.packages = [made.write(cls.folder) for made in every_option.OPTIONS]

    def check(self, commands, has_library=True):
        for folder in self.packages:
            with self.subTest(folder.name):
                compiler_warnings.check(folder, commands, has_library)

    def test_clang(self):
        self.check(compiler_warnings.dialects("clang", ["clang++"]))

    def test_cortex_m4(self):
        self.check(compiler_warnings.dialects("arm-none-eabi-gcc", ARM, compiler_warnings.ARM),
                   has_library=False)

    def test_cortex_m55(self):
        self.check(compiler_warnings.dialects("arm-none-eabi-gcc", ARM, compiler_warnings.M55),
                   has_library=False)

    def test_riscv32(self):
        self.check(compiler_warnings.dialects("riscv64-unknown-elf-gcc", RISCV,
                                              compiler_warnings.RISCV), has_library=False)

    def test_gcc_of_every_model(self):
        (self.folder / "models").mkdir()
        refused = set()
        for made in every_option.every_model():
            with self.subTest(made.name):
                try:
                    package = made.write(self.folder / "models")
                except AssertionError as error:
                    refused.add(made.name)
                    self.assertIn(every_option.REFUSED.get(made.name, "no refusal"), str(error))
                    continue
                compiler_warnings.check(package,
                                        compiler_warnings.dialects("gcc", ["g++"], ("-mavx2",)))
        self.assertEqual(refused, set(every_option.REFUSED))


if __name__ == "__main__":
    unittest.main()
