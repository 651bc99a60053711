# SPDX-License-Identifier: Apache-2.0
"""Functions, files and lines of the tree are short, and a long one is found."""
import os
import tempfile
import unittest

import shape
import tree

CPP = """\
namespace petrel {
const int kTable[] = {1,
                      2};
class Reader {
 public:
  int read(const char* text) const {  // }
    if (text[0] == '}') {
      return 1;
    }
    return 2;
  }
};
template <typename T>
void write(T value) {
  const char* const brace = "{";
}
}  // namespace petrel
"""
PYTHON = """\
class Reader:
    def read(self):
        def inner():
            return 1
        return inner()
"""


class FunctionsTest(unittest.TestCase):

    def test_finds_functions_of_cpp(self):
        self.assertEqual(shape.functions("a.cc", CPP), [("read", 6, 6), ("write", 13, 4)])

    def test_finds_functions_of_python(self):
        self.assertEqual(shape.functions("a.py", PYTHON), [("read", 2, 4), ("inner", 3, 2)])


class TreeTest(unittest.TestCase):

    def test_tree_is_short(self):
        measured, lines = shape.violations(tree.workspace())
        self.assertGreater(measured, 5000)
        self.assertEqual(lines, [])

    def test_long_ones_are_found(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in (
                ("a.cc", "void long_one() {\n" + "  f();\n" * 79 + "}\n"),
                ("b.py", "def fits():\n" + "    f()\n" * 79),
                ("c.h", "int a;\n" * 501),
                ("d.h", "// %s\n" % ("x" * 98)),
            ):
                with open(os.path.join(root, name), "w", encoding="utf-8") as out:
                    out.write(text)
            self.assertEqual(shape.violations(root, {}), (2, [
                "a.cc:1: long_one has 81 lines, at most 80",
                "c.h: 501 lines, at most 500",
                "d.h:1: 101 columns, at most 100",
            ]))

    def test_reason_for_a_function_that_is_short_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(shape.violations(root, {"a.cc f": "a table"}), (
                0, ["a.cc f is not a long function any more"]))


if __name__ == "__main__":
    unittest.main()
