# SPDX-License-Identifier: Apache-2.0
"""An app that links only the kernels of its program is smaller, and whole.

Whoever makes it smaller lowers the ceiling with it.
"""
import os
import subprocess
import sys
import unittest

from code_bytes import X86_64, code_bytes, machine

HERE = "test/size"
MODELS = ("digits", "in_place", "split_chunk")
# Bytes of the first with gcc 12; SLACK is for compilers that differ a little. What
# bounds the memory and the work of a program has 8,350 of them, what keeps weights together that
# were computed from each other 13,400.
DIGITS_BYTES = {X86_64: 289_022}
SLACK = 1.03


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

    def test_carry_nothing_that_no_program_asks_for(self):
        binary = os.path.join(HERE, "digits_kernels")
        if machine(binary) in DIGITS_BYTES:
            self.assertLessEqual(code_bytes(binary), DIGITS_BYTES[machine(binary)] * SLACK)
        # What reads .safetensors parses JSON.
        names = subprocess.run(["nm", "-C", binary], check=True, stdout=subprocess.PIPE,
                               text=True).stdout
        self.assertIn("petrel::extension::FlatDataMap::load", names)
        self.assertNotIn("safetensors", names.lower())
        self.assertNotIn("nlohmann", names)

    def test_other_programs_are_refused_by_the_kernels_name(self):
        result = run("split_chunk_kernels", "digits.pte")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"aten::\w+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
