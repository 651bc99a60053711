# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md and docs/portable_c_operators.md are what the tables of operators say."""

import re
import subprocess
import unittest


def written(program):
    return subprocess.run([f"extension/export/{program}"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def rows_of(page):
    """By what their first column has between ticks."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row for row in rows}


class OperatorsTest(unittest.TestCase):

    def check_page(self, name, program):
        with open(f"docs/{name}", encoding="utf-8") as page:
            if page.read() != written(program):
                self.fail(f"docs/{name} is old: "
                          f"./bazelw run //extension/export:{program} > docs/{name}")

    def test_pages_are_current(self):
        self.check_page("operators.md", "write_operators")
        self.check_page("portable_c_operators.md", "write_c_operators")

    def test_rows_say_what_is_known_of_these(self):
        rows = {name: " | ".join(row) for name, row in rows_of(written("write_operators")).items()}
        self.assertGreater(len(rows), 300)
        self.assertIn("self Tensor, other Tensor, alpha Scalar=1 | pure, elementwise | all",
                      rows["aten.add.Tensor"])
        for runner in ("portable", "optimized", "XNNPACK"):
            self.assertIn(runner, rows["aten.add.Tensor"])
        self.assertIn("| u8 i8 i16 i32 i64 bool | portable", rows["aten.__and__.Tensor"])

    def test_every_kernel_of_the_portable_library_is_in_c_or_has_a_reason(self):
        page = written("write_c_operators")
        theirs, ours = page.split("These exist besides:")
        all_kernels, existing = map(int, re.search(r"Of the (\d+) .*? (\d+) exist in C",
                                                   theirs).groups())
        rows = rows_of(theirs)
        self.assertEqual((len(rows), all_kernels), (209, 209))
        for name, row in rows.items():
            with self.subTest(name):
                self.assertIn(row[1], ("yes", "fixed sizes", "no"))
                self.assertEqual(row[1] == "no", row[-1].startswith("not "), row)
        self.assertEqual(sum(row[1] != "no" for row in rows.values()), existing)
        self.assertEqual(rows["aten::abs.out"][1:3], ["yes", "all"])
        self.assertEqual(rows["aten::bitwise_and.Tensor_out"][2], "u8 i8 i16 i32 i64 bool")
        self.assertEqual(rows["aten::as_strided_copy.out"][1], "fixed sizes")
        self.assertIn("aten::linear.out", rows_of(ours))


if __name__ == "__main__":
    unittest.main()
