# SPDX-License-Identifier: Apache-2.0
"""What a program asks of the system is what readelf says."""

import os
import pathlib
import re
import subprocess
import unittest

import elf

COMMAND = pathlib.Path("extension/cli/stripped/petrel")
FOLDER = pathlib.Path(os.environ["TEST_TMPDIR"])


def told(option, path):
    return subprocess.run(["readelf", "--wide", option, path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def compiled(name, source):
    """A shared library of C++."""
    path = FOLDER / name
    subprocess.run(["g++", "-x", "c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-", "-o", path],
                   input=source, text=True, check=True)
    return path


class ElfTest(unittest.TestCase):

    def test_names_libraries_and_versions_as_readelf_does(self):
        plain = compiled("plain.so", "int one() { return 1; }")
        thrower = compiled("thrower.so", "#include <stdexcept>\n#include <string>\n"
                           "void fail() { throw std::runtime_error(std::to_string(1)); }")
        for path in (COMMAND, plain, thrower):
            self.assertEqual(elf.needed(path),
                             re.findall(r"\(NEEDED\).*\[(.*?)\]", told("--dynamic", path)))
            self.assertEqual(sorted(elf.versions(path)),
                             sorted(re.findall(r"Name: (\S+)  Flags", told("--version-info", path))))
        self.assertIn("libstdc++.so.6", elf.needed(thrower))
        self.assertTrue(any(name.startswith("GLIBCXX_") for name in elf.versions(thrower)))

    def test_platform_is_the_oldest_that_has_all_versions(self):
        newest = max(tuple(map(int, name[len("GLIBC_"):].split(".")))
                     for name in elf.versions(COMMAND) if re.match(r"GLIBC_\d+\.\d+", name))
        self.assertEqual(elf.platform([COMMAND]),
                         "manylinux_%d_%d_%s" % (*newest, os.uname().machine))
        # std::random_device::entropy() of 3.4.25, regular expressions of none.
        old = compiled("old.so", "#include <random>\ndouble bits() {"
                       "return std::random_device(\"default\").entropy(); }")
        self.assertIn("GLIBCXX_3.4.25", elf.versions(old))
        self.assertEqual(elf.platform([old]), "manylinux_2_31_" + os.uname().machine)

    def test_refuses_what_is_no_such_file_and_what_is_for_several_processors(self):
        text = FOLDER / "text"
        text.write_text("text")
        with self.assertRaisesRegex(ValueError, "is no 64-bit little-endian ELF file"):
            elf.needed(text)
        data = bytearray(COMMAND.read_bytes())
        data[18] = 0xb7
        other, unknown = FOLDER / "other", FOLDER / "unknown"
        other.write_bytes(data)
        with self.assertRaisesRegex(ValueError, "are for .* and "):
            elf.platform([COMMAND, other])
        data[18] = 0xff
        unknown.write_bytes(data)
        with self.assertRaisesRegex(ValueError, "is for processor 255, must be for one of"):
            elf.machine(unknown)


if __name__ == "__main__":
    unittest.main()
