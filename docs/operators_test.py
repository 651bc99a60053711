# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md is what the operator table says."""

import subprocess
import unittest

PAGE = "docs/operators.md"


class OperatorsTest(unittest.TestCase):

    def setUp(self):
        self.wanted = subprocess.run(["extension/export/write_operators"], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout

    def test_page_is_current(self):
        with open(PAGE, encoding="utf-8") as page:
            if page.read() != self.wanted:
                self.fail(f"{PAGE} is old: ./bazelw run //extension/export:write_operators > {PAGE}")

    def test_rows_say_what_is_known_of_these(self):
        rows = {line.split(" | ")[0].strip("| `"): line for line in self.wanted.splitlines()}
        self.assertGreater(len(rows), 300)
        self.assertIn("self Tensor, other Tensor, alpha Scalar=1 | pure, elementwise | all",
                      rows["aten.add.Tensor"])
        for runner in ("portable", "optimized", "XNNPACK"):
            self.assertIn(runner, rows["aten.add.Tensor"])
        self.assertIn("| u8 i8 i16 i32 i64 bool | portable", rows["aten.__and__.Tensor"])


if __name__ == "__main__":
    unittest.main()
