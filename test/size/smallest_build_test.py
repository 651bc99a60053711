# SPDX-License-Identifier: Apache-2.0
"""The smallest build of the runtime answers as the one with messages does.

Both load and run the golden programs, whole and damaged; every error has the same code, every
output the same values. The smallest one has no texts to say why.
"""
import collections
import subprocess
import sys
import unittest

OK, OPERATOR_MISSING, INVALID_PROGRAM, OUT_OF_RESOURCES = "0", "20", "35", "37"


def answers(binary):
    run = subprocess.run([binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = run.stdout.splitlines()
    return run, lines[:-1], int(lines[-1].split()[0])


class SmallestBuild(unittest.TestCase):

    def test_refuses_with_the_same_codes(self):
        full, expected, num_messages = answers("test/size/damaged_answers")
        self.assertEqual((full.returncode, full.stderr), (0, ""))
        small, actual, no_messages = answers("test/size/damaged_answers_smallest")
        self.assertEqual((small.returncode, small.stderr), (0, ""))
        self.assertEqual(len(actual), len(expected))
        different = [pair for pair in zip(actual, expected) if pair[0] != pair[1]]
        self.assertEqual(different[:10], [])
        # Of loading, then of each method: both kinds are met, and many.
        loaded = collections.Counter(line.split()[3] for line in expected)
        ran = collections.Counter(code for line in expected for code in line.split()[4:5])
        print("loading:", dict(loaded), "running:", dict(ran))
        self.assertGreater(loaded[INVALID_PROGRAM], 10_000)
        self.assertGreater(loaded[OK], 10_000)
        self.assertGreater(loaded[OUT_OF_RESOURCES], 0)
        self.assertGreater(ran[OK], 10_000)
        self.assertGreater(ran[OPERATOR_MISSING], 0)
        self.assertGreater(num_messages, 10_000)
        self.assertEqual(no_messages, 0)

    def test_whole_programs_run(self):
        for binary in ("test/size/damaged_answers", "test/size/damaged_answers_smallest"):
            _, lines, _ = answers(binary)
            whole = [line.split() for line in lines if line.split()[2] == "="]
            self.assertGreater(len(whole), 5)
            for line in whole:
                self.assertEqual(set(line[3:]), {OK}, line)

    def test_has_no_texts(self):
        text = b'method "%.64s": value %u: '
        with open("test/size/core_probe", "rb") as file:
            self.assertIn(text, file.read())
        with open("test/size/core_probe_smallest", "rb") as file:
            smallest = file.read()
        for part in (text, b"%u", b"must be", b"cannot be"):
            self.assertNotIn(part, smallest)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
