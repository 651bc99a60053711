# SPDX-License-Identifier: Apache-2.0
"""What a refusal says is missing is true: with exactly that much more the model fits, and with a
byte less of any memory that was named it does not."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from command import PETREL

INTEGER = pathlib.Path("test/quantized/integer").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
LEVELS = ("--int8", "integer", "--io-dtype", "int8")
KEYWORDS = (INTEGER / "keywords.pt2", *LEVELS)  # 1,264 bytes of values, 2,460 of constants
AUTOENCODER = (INTEGER / "autoencoder.pt2", *LEVELS)  # 144
BLOCKS = (INTEGER / "blocks_1.pt2", *LEVELS)  # 4,912, and 2,832 row by row
OTHERS = (INTEGER / "blocks_2.pt2", *LEVELS)  # 992, and 528 row by row

SHORT = re.compile(r"pool '(\w+)' has (\d+) bytes, (?:its \d+ parameters need \d+, |state needs \d+, )?"
                   r"(\d+) more(?: are needed)?(?:, (\d+) more of its size)?")


class LeastRoomTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def said(self, *words):
        """What the command says where it fails, "" where it does not."""
        result = subprocess.run([str(w) for w in (PETREL, *words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(result.returncode == 0, (self.folder / "net").exists())
        if result.returncode == 0:
            subprocess.run(["rm", "-r", self.folder / "net"], check=True)
            return ""
        self.assertRegex(result.stderr, r"\Apetrel [a-z-]+: [^\n]+\n\Z")
        return result.stderr

    def generated(self, model, pools, more):
        words = [w for pool in pools for w in
                 ("--pool", ",".join(f"{key}={value}" for key, value in pool.items()))]
        return self.said("gen-c", *model, "-o", "net", "--name", "net", *words, *more)

    def check(self, model, pools, *more):
        said = self.generated(model, pools, more)
        short = {name: (int(has), int(bytes_), int(size or 0))
                 for name, has, bytes_, size in SHORT.findall(said)}
        self.assertTrue(short, said)
        raised = [self.raised(pool, *short.get(pool["name"], (0, 0, 0))) for pool in pools]
        self.assertEqual(self.generated(model, raised, more), "", f"{said}\n{raised}")
        for name, (has, bytes_, size) in short.items():
            less = [self.raised(pool, has, bytes_ - 1, max(size - 1, 0))
                    if pool["name"] == name else now for pool, now in zip(pools, raised)]
            self.assertRegex(self.generated(model, less, more), f"pool '{name}' has", said)
        return short

    def raised(self, pool, has, bytes_, size):
        result = dict(pool)
        if bytes_ and "limit" in pool:
            self.assertEqual(pool["limit"], has)
            result["limit"] += bytes_
            if "size" in pool:
                result["size"] += size
        elif bytes_:
            self.assertEqual(pool["size"], has)
            result["size"] += bytes_
        return result

    def test_of_one_pool(self):
        for model, limits in ((KEYWORDS, (16, 700, 1250)), (AUTOENCODER, (0, 1, 15, 20, 143)),
                              (BLOCKS, (300, 2000, 2831)), (OTHERS, (17, 500)), ((DIGITS,), (9001,))):
            for limit in limits:
                self.check(model, [{"name": "ram", "limit": limit}])
        self.check(BLOCKS, [{"name": "ram", "size": 2000, "limit": 1900}])
        self.check(BLOCKS, [{"name": "ram", "size": 65536, "limit": 1900}])
        self.check(BLOCKS, [{"name": "ram", "size": 2000, "align": 64}])
        self.check(KEYWORDS, [{"name": "ram", "limit": 500}], "--io", "caller")

    def test_of_preferred_pools(self):
        self.check(KEYWORDS, [{"name": "tcm", "limit": 300, "prefer": 100},
                              {"name": "ram", "limit": 400, "prefer": 64}])

    def test_of_two_pools(self):
        for model, small, large in ((KEYWORDS, 200, 400), (BLOCKS, 1024, 1200), ((DIGITS,), 1024, 1500)):
            self.check(model, [{"name": "tcm", "limit": small}, {"name": "ram", "limit": large}])
            self.check(model, [{"name": "tcm", "limit": small}, {"name": "ram", "limit": 65536}],
                       "--pin", "*=tcm")
        short = self.check(KEYWORDS, [{"name": "ram", "limit": 1000},
                                      {"name": "flash", "kind": "ro", "limit": 1000}],
                           "--params", "pool")
        self.assertEqual(set(short), {"ram", "flash"})

    def test_of_state(self):
        counter = [w for name in ("add", "read")
                   for w in ("--method", f"{name}={STATE / f'counter.{name}.pt2'}")]
        short = self.check(counter, [{"name": "ram", "limit": 16}, {"name": "state", "limit": 16}])
        self.assertIn("state", short)

    def test_of_a_group(self):
        subprocess.run([str(w) for w in (PETREL, "gen-c", *AUTOENCODER, "-o", "other", "--name",
                                         "other", "--pool", "ram=4K")], cwd=self.folder, check=True)
        for mode in ("apart", "together"):
            self.check(KEYWORDS, [{"name": "ram", "limit": 900}], "--group", "other/manifest.json",
                       "--group-mode", mode)

    def test_of_all_memory_together(self):
        for model, limit in ((KEYWORDS, 1000), (AUTOENCODER, 100), (BLOCKS, 1000), ((DIGITS,), 9000)):
            words = lambda n: ("gen-c", *model, "-o", "net", "--name", "net", "--max-arena-bytes", n)
            more = int(re.search(r"by (\d+);", self.said(*words(limit))).group(1))
            self.assertEqual(self.said(*words(limit + more)), "")
            self.assertIn("by 1;", self.said(*words(limit + more - 1)))

    def test_of_a_board(self):
        board = {"format": 1, "name": "tiny", "family": "nrf51", "cores": [{"name": "c"}],
                 "memories": [{"name": "rom", "kind": "ro", "address": 0, "size": 2000},
                              {"name": "ram", "kind": "rw", "address": 0x20000000, "size": 1701,
                               "reserved": 700}],
                 "timer": {"name": "TIMER0", "width": 32, "hz": 16000000},
                 "toolchain": {"prefix": "arm-none-eabi-", "flags": ["-mcpu=cortex-m0"]}}

        def on(rom, ram):
            board["memories"][0]["size"], board["memories"][1]["size"] = 2000 + rom, 1701 + ram
            (self.folder / "tiny.json").write_text(json.dumps(board))
            return self.said("gen-c", *KEYWORDS, "-o", "net", "--name", "net", "--board", "tiny.json")

        more = {name: int(bytes_) for name, _, bytes_, _ in SHORT.findall(on(0, 0))}
        self.assertEqual(set(more), {"rom", "ram"})
        self.assertEqual(on(more["rom"], more["ram"]), "")
        self.assertRegex(on(more["rom"] - 1, more["ram"]), r"'rom' has \d+ bytes.*, 1 more;")
        self.assertRegex(on(more["rom"], more["ram"] - 1), r"'ram' has \d+ bytes, 1 more are needed")


if __name__ == "__main__":
    unittest.main()
