# SPDX-License-Identifier: Apache-2.0
"""The C interface only grows: what interface.txt lists is in petrel.h, unchanged.

A line is a version of the interface and a declaration that came with it. What is new gets a
line with a higher version, and PETREL_API_VERSION becomes that.

    python3 extension/c_api/interface_test.py --list     # lines for what is new
"""

import pathlib
import re
import sys
import unittest

import interface

HERE = pathlib.Path(__file__).absolute().parent


def header():
    return (HERE / "petrel.h").read_text()


def listed():
    """Versions by declarations."""
    rows = [line.split(" ", 1) for line in (HERE / "interface.txt").read_text().splitlines()
            if line and not line.startswith("#")]
    return {declaration: int(version) for version, declaration in rows}


def version():
    return int(re.search(r"^#define PETREL_API_VERSION (\d+)$", header(), re.M)[1])


class InterfaceTest(unittest.TestCase):
    def test_what_there_was_is_there_unchanged(self):
        self.assertEqual(sorted(set(listed()) - set(interface.declarations(header()))), [])

    def test_what_is_new_is_listed_with_its_version(self):
        self.assertEqual(sorted(set(interface.declarations(header())) - set(listed())), [])
        self.assertEqual(max(listed().values()), version())

    def test_changes_are_seen(self):
        text = header()
        self.assertGreater(len(interface.declarations(text)), 100)
        for old, new in (
                ("petrel_module_run(petrel_module* module", "petrel_module_run(petrel_method* module"),
                ("typedef int32_t petrel_data_order", "typedef int64_t petrel_data_order"),
                ("PETREL_DATA_FIRST_COUNTS = 1", "PETREL_DATA_FIRST_COUNTS = 2"),
                ("  int32_t quant_min;", "  int32_t more;\n  int32_t quant_min;")):
            changed = text.replace(old, new)
            self.assertNotEqual(changed, text, old)
            self.assertTrue(set(listed()) - set(interface.declarations(changed)), old)
        self.assertEqual(
            set(interface.declarations(text.replace("} petrel_levels;", "int more;} petrel_levels;")))
            - set(listed()), {"member petrel_levels 6 int more"})


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        known = listed()
        for line in interface.declarations(header()):
            if line not in known:
                print(version(), line)
    else:
        unittest.main()
