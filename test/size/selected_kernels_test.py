# SPDX-License-Identifier: Apache-2.0
"""An app that links only the kernels of its program is smaller, and whole."""
import os
import subprocess
import sys
import unittest

from code_bytes import code_bytes

HERE = "test/size"
MODELS = ("digits", "in_place", "split_chunk")


def run(binary, program):
    return subprocess.run([os.path.join(HERE, binary), os.path.join(HERE, program)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class SelectedKernels(unittest.TestCase):

    def test_compute_the_same_and_weigh_less(self):
        whole = code_bytes(os.path.join(HERE, "all_kernels"))
        print("%-12s %8s %8s" % ("program", "all", "selected"))
        for model in MODELS:
            with self.subTest(model):
                expected = run("all_kernels", model + ".pte")
                self.assertEqual(expected.returncode, 0, expected.stderr)
                self.assertNotEqual(expected.stdout, "")
                actual = run(model + "_kernels", model + ".pte")
                self.assertEqual((actual.returncode, actual.stdout), (0, expected.stdout))
                selected = code_bytes(os.path.join(HERE, model + "_kernels"))
                print("%-12s %8d %8d" % (model, whole, selected))
                self.assertLess(selected, whole / 2)

    def test_other_programs_are_refused_by_the_kernels_name(self):
        result = run("split_chunk_kernels", "digits.pte")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"aten::\w+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
