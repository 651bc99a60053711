# SPDX-License-Identifier: Apache-2.0
"""Apps in ExecuTorch's habits print here what they print with its own SDK.

test/porting/with_executorch wrote the expected texts with that SDK.
"""

import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path("test/porting")
DIGITS = "examples/quickstart/digits.bin"
PROGRAM = str(HERE / "digits.pte")
EXTERNAL = [str(HERE / "external.pte"), str(HERE / "external.ptd")]


class PortingTest(unittest.TestCase):
    maxDiff = None

    def check(self, name, *command):
        done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, (HERE / f"expected/{name}.txt").read_text())

    def test_classifier(self):
        self.check("classifier", HERE / "classifier_app", PROGRAM)

    def test_habits(self):
        self.check("habits", HERE / "habits_app", PROGRAM)

    def test_module(self):
        self.check("module", HERE / "module_app", DIGITS, PROGRAM)

    def test_module_with_data(self):
        self.check("module_with_data", HERE / "module_app", DIGITS, *EXTERNAL)

    def test_parts(self):
        self.check("parts", HERE / "parts_app", *EXTERNAL)

    def test_program(self):
        self.check("program", HERE / "program_app", *EXTERNAL)

    def test_tensor(self):
        self.check("tensor", HERE / "tensor_app")

    def test_bindings(self):
        for package in ("petrel", "petrel_runtime"):
            self.check("bindings", sys.executable, HERE / "bindings_app.py",
                       f"{package}.portable_lib", DIGITS, PROGRAM, *EXTERNAL)

    def test_python(self):
        for package in ("petrel", "petrel_runtime"):
            self.check("runtime", sys.executable, HERE / "runtime_app.py", f"{package}.runtime",
                       DIGITS, PROGRAM)


if __name__ == "__main__":
    unittest.main()
