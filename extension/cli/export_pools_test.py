# SPDX-License-Identifier: Apache-2.0
"""`export --pool`: programs whose activations lie in several arenas compute what those with one do,
with kernels and with a backend; limits hold, and what is refused leaves nothing."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
STATE = pathlib.Path("test/models/state").absolute()


class ExportPoolsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *words):
        return subprocess.run([PETREL, *map(str, words)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *words):
        result = self.petrel(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def arenas(self, file):
        """The bytes of the arenas of each method."""
        described = json.loads(self.done("inspect", file, "--json"))
        return [method["arenas"] for method in described["methods"]]

    def check_same(self, model, run, *pools, backend="none"):
        """The arenas of the program with pools, which computes what the one without does."""
        words = [w for pool in pools for w in ("--pool", pool)]
        self.done("export", *model, "-o", "one.pte", "--backend", backend)
        self.done("export", *model, "-o", "pools.pte", "--backend", backend, *words)
        self.done("verify", "pools.pte")
        expected = self.done("run", "one.pte", *run)
        self.assertIn("sha256", expected)
        self.assertEqual(self.done("run", "pools.pte", *run), expected)
        return self.arenas("pools.pte")

    def test_results_are_those_of_one_arena(self):
        fast, slow = self.check_same([DIGITS], ["--input", DIGIT], "fast=12K", "slow=unlimited")[0]
        self.assertTrue(0 < fast <= 12288)
        self.assertGreater(slow, 0)
        for name in ("lstm", "pools", "norms", "writes", "resize"):
            inputs = [w for f in sorted(LAYERS.glob(f"{name}.input_*.npy"))
                      for w in ("--input", f)]
            arenas = self.check_same([LAYERS / f"{name}.pt2"], inputs, "name=a,prefer=256,align=64",
                                     "b=unlimited")[0]
            self.assertEqual(len(arenas), 2, name)
            self.assertEqual(arenas[0] % 64, 0)

    def test_backend_has_room_behind_its_tensors(self):
        arenas = self.check_same([DIGITS], ["--input", DIGIT], "name=fast,limit=4K",
                                 "slow=unlimited", backend="xnnpack")[0]
        self.assertTrue(all(0 <= size for size in arenas))
        self.assertLessEqual(arenas[0], 4096)

    def test_state_of_several_methods_lies_behind_the_pools(self):
        model = [w for m in ("add", "read") for w in ("--method", f"{m}={STATE}/counter.{m}.pt2")]
        calls = ["--call", "add:[1,2,3,4]", "--call", "read", "--call", "add:x=[1,1,1,1]",
                 "--call", "read:"]
        for arenas in self.check_same(model, calls, "a=1K", "b=1K"):
            self.assertEqual(len(arenas), 3)
            self.assertGreater(arenas[2], 0)

    def test_values_are_pinned_by_name(self):
        self.done("export", DIGITS, "-o", "p.pte", "--backend", "none", "--pool", "fast=unlimited",
                  "--pool", "slow=unlimited", "--pin", "*=slow")
        self.assertEqual(self.arenas("p.pte")[0][0], 0)
        self.done("run", "p.pte", "--input", DIGIT)

    def test_what_cannot_be_is_refused_all_at_once_and_nothing_is_written(self):
        for words, messages in (
                (["--pool", "fast"], [r"--pool is 'fast', must be NAME=BYTES"]),
                (["--pool", "a=1K", "--pool", "a=2K"], ["pool 'a' is given twice"]),
                (["--pool", "name=f,kind=ro,section=.f", "--pin", "x=g"],
                 ["--pool 'f': kind=ro is for gen-c", "--pool 'f': section is for gen-c",
                  "--pin 'x=g': there is no --pool of that name"]),
                (["--pool", "a=1M", "--pin", "nothing*=a"], ["no value has such a name"]),
                (["--pool", "a=4K", "--pool", "b=6K", "--backend", "none"],
                 [r"pool 'b' has 6144 bytes, \d+ more are needed: in method 'forward' at time \d+ are alive: "])):
            result = self.petrel("export", DIGITS, "-o", "no.pte", *words)
            self.assertNotEqual(result.returncode, 0)
            for message in messages:
                self.assertRegex(result.stderr, message)
            self.assertFalse((self.folder / "no.pte").exists())

    def test_report_says_the_bytes_of_each(self):
        text = self.done("export", DIGITS, "-o", "r.pte", "--backend", "none", "--pool", "fast=12K",
                         "--pool", "slow=unlimited", "--json")
        described = json.loads(text[text.index("{"):])
        self.assertEqual(described["methods"][0]["arena_bytes"], self.arenas("r.pte")[0])


if __name__ == "__main__":
    unittest.main()
