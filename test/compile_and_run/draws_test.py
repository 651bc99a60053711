# SPDX-License-Identifier: Apache-2.0
"""Random numbers of every kind, as a program draws them: where they lie, their mean, and how
many are below what a half of them should be below. 20,000 of each, so that a bound of six
deviations is passed by chance once in 500 million runs."""

import collections
import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DRAWS = pathlib.Path("test/models/draws/draws.pt2").absolute()
COUNT = 20000
CHANCE = 0.3
WEIGHTS = (1.0, 0.0, 2.0, 5.0)

# name -> least, largest (None: any), mean, deviation, median (None: not asked)
REAL = {
    "rand_like": (0, 1, 0.5, 12**-0.5, 0.5),
    "randn_like": (None, None, 0, 1, 0),
    "uniform": (-1, 3, 1, 4 * 12**-0.5, 1),
    "normal": (None, None, 2, 0.5, 2),
    "normal_tensors": (None, None, CHANCE, CHANCE, CHANCE),
    "normal_mean": (None, None, CHANCE, 2, CHANCE),
    "normal_deviation": (None, None, 1, CHANCE, 1),
    "exponential": (0, None, 0.25, 0.25, math.log(2) / 4),
    "log_normal": (0, None, math.exp(0.25**2 / 2),
                   math.sqrt(math.expm1(0.25**2) * math.exp(0.25**2)), 1),
    # Has no mean.
    "cauchy": (None, None, None, None, 1),
}
# name -> {value: its chance}
WHOLE = {
    # 20 stands for all above.
    "geometric": {n: 0.25 * 0.75**(n - 1) for n in range(1, 20)} | {20: 0.75**19},
    "bernoulli": {0: 1 - CHANCE, 1: CHANCE},
    "bernoulli_number": {0: 0.25, 1: 0.75},
    "bernoulli_in_place": {0: 0.875, 1: 0.125},
    "bernoulli_of": {0: 1 - CHANCE, 1: CHANCE},
    "randint": {n: 1 / 8 for n in range(-3, 5)},
    "randint_high": {n: 1 / 3 for n in range(3)},
    "randint_like": {n: 1 / 7 for n in range(2, 9)},
    "multinomial": {n: w / 8 for n, w in enumerate(WEIGHTS)},
    "multinomial_once": {n: w / 8 for n, w in enumerate(WEIGHTS)},
}


class DrawsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        (cls.folder / "p.npy").write_bytes(npy_file.written("<f4", (COUNT,), [CHANCE] * COUNT))
        (cls.folder / "w.npy").write_bytes(npy_file.written("<f4", (4,), WEIGHTS))
        cls.petrel("export", DRAWS, "-o", "m.pte", "--backend", "xnnpack")
        names = json.loads(cls.petrel("inspect", DRAWS, "--json"))["outputs"]
        cls.place = {name: i for i, name in enumerate(names)}
        cls.petrel("run", "m.pte", "--input", "p.npy", "--input", "w.npy", "--output-dir", "out")

    @classmethod
    def petrel(cls, *words):
        done = subprocess.run([PETREL, *map(str, words)], cwd=cls.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def drawn(self, name):
        return npy_file.read_elements(self.folder / "out" / f"output_{self.place[name]}.npy")

    def check_share(self, found, chance, what):
        deviation = math.sqrt(COUNT * chance * (1 - chance))
        self.assertLessEqual(abs(found - COUNT * chance), 6 * deviation, what)

    def test_real_numbers_lie_where_they_should(self):
        for name, (least, largest, mean, deviation, median) in REAL.items():
            with self.subTest(name=name):
                drawn = self.drawn(name)
                self.assertEqual(len(drawn), COUNT)
                self.assertTrue(all(map(math.isfinite, drawn)))
                self.assertGreaterEqual(min(drawn), -math.inf if least is None else least)
                self.assertLessEqual(max(drawn), math.inf if largest is None else largest)
                self.check_share(sum(x < median for x in drawn), 0.5, "below the median")
                if mean is None:
                    continue
                self.assertAlmostEqual(sum(drawn) / COUNT, mean,
                                       delta=6 * deviation / math.sqrt(COUNT))
                spread = math.sqrt(sum((x - mean)**2 for x in drawn) / COUNT)
                self.assertAlmostEqual(spread / deviation, 1, delta=0.1)

    def test_whole_numbers_have_their_chances(self):
        for name, chances in WHOLE.items():
            with self.subTest(name=name):
                found = collections.Counter(min(x, 20) for x in self.drawn(name))
                self.assertEqual(sum(found.values()), COUNT)
                self.assertLessEqual(set(found), set(chances))
                for value, chance in chances.items():
                    self.check_share(found[value], chance, value)

    def test_a_permutation_has_each_number_once_in_another_order(self):
        drawn = self.drawn("randperm")
        self.assertEqual(sorted(drawn), list(range(COUNT)))
        self.assertLess(sum(a == b for a, b in enumerate(drawn)), 30)

    def test_samples_without_replacement_differ_and_weigh(self):
        drawn = self.drawn("multinomial_apart")
        pairs = collections.Counter(zip(drawn[::2], drawn[1::2]))
        expected = {(a, b): WEIGHTS[a] / 8 * WEIGHTS[b] / (8 - WEIGHTS[a])
                    for a in (0, 2, 3) for b in (0, 2, 3) if a != b}
        self.assertEqual(set(pairs), set(expected))
        for pair, chance in expected.items():
            self.check_share(pairs[pair], chance, pair)

    def test_a_hard_gumbel_softmax_chooses_one(self):
        drawn = self.drawn("gumbel")
        for k, weight in enumerate(WEIGHTS):
            column = drawn[k::4]
            self.check_share(sum(x > 0.5 for x in column), weight / 8, k)
        self.assertTrue(all(abs(sum(drawn[i:i + 4]) - 1) < 1e-6 for i in range(0, 4 * COUNT, 4)))


if __name__ == "__main__":
    unittest.main()
