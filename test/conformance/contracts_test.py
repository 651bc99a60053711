# SPDX-License-Identifier: Apache-2.0
"""Every test that README.md names is there, and every row names one in each language."""

import os
import pathlib
import re
import unittest

README = "test/conformance/README.md"
ROWS = [f"NB-{i}" for i in range(1, 13)] + [f"W-{i}" for i in range(1, 12)]
BEHAVIOURS = ["single method", "two methods", "multiple partitions", "different partitions",
              "different backends", "sequential delegates", "constants", "control flow",
              "not found", "end to end"]


def workspace():
    """The source tree that the runfiles point into."""
    return pathlib.Path("WORKSPACE").resolve().parent


def sources(root, suffix):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "bazel-"))]
        yield from (pathlib.Path(folder, name) for name in files if name.endswith(suffix))


def cpp_tests(root):
    """Names such as "Suite.Name"."""
    names = set()
    for suffix in ("_test.cc", "_tests.cc"):
        for path in sources(root, suffix):
            names.update(f"{suite}.{name}" for suite, name in re.findall(
                r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE))
    return names


def python_tests(root):
    """Names such as "Class.test_name"."""
    names = set()
    for path in sources(root, "_test.py"):
        suite = None
        for line in path.read_text().splitlines():
            found = re.match(r"class (\w+)", line)
            suite = found[1] if found else suite
            found = re.match(r"    def (test_\w+)", line)
            if found:
                names.add(f"{suite}.{found[1]}")
    return names


def c_tests(root):
    """Names of functions."""
    names = set()
    for path in sources(root, "_test.c"):
        names.update(re.findall(r"^static void (\w+)\(void\) \{", path.read_text(), re.MULTILINE))
    return names


def names_in(cell):
    """`Suite.A`, `.B` is A and B of one suite."""
    names = []
    for name in re.findall(r"`([\w.]+)`", cell):
        suite, dot, test = name.rpartition(".")
        if dot:
            test = f"{suite or names[-1].split('.')[0]}.{test}"
        names.append(test)
    return names


def rows(text):
    """First cell -> names of C++ tests, names of Python tests: of tables that have both."""
    table = {}
    columns = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = [next((i for i, cell in enumerate(cells) if cell.startswith(language)), None)
                       for language in ("C++", "Python")]
        elif None not in columns and not cells[0].startswith("-"):
            table[cells[0]] = tuple(names_in(cells[i]) for i in columns)
    return table


def named_elsewhere(text, column):
    """Names of tests in the columns of that name."""
    names, place = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            place = None
        elif column in cells:
            place = cells.index(column)
        elif place is not None:
            names += names_in(cells[place])
    return names


class ContractsTest(unittest.TestCase):

    def test_tests_of_c_and_of_the_command_are_there(self):
        root = workspace()
        text = (root / README).read_text()
        for column, known in (("C", c_tests(root)), ("command", python_tests(root))):
            names = named_elsewhere(text, column)
            self.assertGreater(len(names), 5)
            self.assertEqual([name for name in names if name not in known], [])

    def test_every_contract_has_tests_in_both_languages(self):
        root = workspace()
        table = rows((root / README).read_text())
        self.assertEqual(sorted(set(ROWS + BEHAVIOURS) - set(table)), [])
        known = cpp_tests(root), python_tests(root)
        for row, by_language in table.items():
            for names, there in zip(by_language, known):
                self.assertTrue(names, row)
                self.assertEqual([name for name in names if name not in there], [], row)

    def test_a_name_that_is_not_there_is_found(self):
        table = rows("| row | C++ | Python |\n|---|---|---|\n"
                     "| NB-1 | `A.B`, `.C` | `D.test_e` |\n\n| other | text |\n|---|---|\n| x | y |")
        self.assertEqual(table, {"NB-1": (["A.B", "A.C"], ["D.test_e"])})
        self.assertNotIn("A.B", cpp_tests(workspace()))


if __name__ == "__main__":
    unittest.main()
