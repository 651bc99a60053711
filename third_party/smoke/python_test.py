# SPDX-License-Identifier: Apache-2.0
"""A pybind11 module loads in the interpreter that the toolchain names."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import greeting  # noqa: E402


class PythonTest(unittest.TestCase):

    def test_module_loads_and_computes(self):
        self.assertEqual(greeting.add(40, 2), 42)

    def test_interpreter_is_the_one_of_the_toolchain(self):
        self.assertEqual(sys.executable, "/usr/bin/python3")


if __name__ == "__main__":
    unittest.main()
