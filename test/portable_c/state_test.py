# SPDX-License-Identifier: Apache-2.0
"""Several methods with state that they share, as C: a decoder with a cache of keys and
values generates the tokens of eager torch, and a counter counts."""

import os
import pathlib
import struct
import tempfile
import unittest

import npy_file
import package

STATE = pathlib.Path("test/models/state").absolute()
PROMPT = 8


class StateTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def package(self, name, *methods, more=package.UNOPTIMISED):
        return package.Package(self.folder, name,
                               [(m, STATE / f"{name}.{m}.pt2") for m in methods], more=more)

    def test_decoder_generates_the_tokens_of_eager_torch(self):
        decoder = self.package("decoder", "prefill", "decode", more=[])
        tokens = npy_file.elements(npy_file.read(STATE / "decoder.tokens.npy"))
        logits = npy_file.elements(npy_file.read(STATE / "decoder.logits.npy"))
        calls = [("prefill", [npy_file.read(STATE / "decoder.prompt.npy").data])]
        for i, token in enumerate(tokens[:-1]):
            calls.append(("decode", [struct.pack("<q", token), struct.pack("<q", PROMPT + i)]))
        outputs = decoder.calls(calls)
        width = len(logits) // len(tokens)
        for i, (scores, token) in enumerate(outputs):
            self.assertEqual(struct.unpack("<q", token)[0], tokens[i], f"token {i}")
            for a, e in zip(struct.unpack(f"<{width}f", scores),
                            logits[i * width:(i + 1) * width], strict=True):
                self.assertAlmostEqual(a, e, delta=1e-4)
        decoder.selftest()

    def test_token_that_is_not_in_the_table_fails_the_call(self):
        decoder = self.package("decoder", "prefill", "decode")
        for token in (64, -1, -2**63):
            with self.assertRaisesRegex(AssertionError, "decode: 123"):  # 128 + E_DATA
                decoder.run("decode", [struct.pack("<q", token), struct.pack("<q", PROMPT)])

    def test_methods_share_state_and_reset_starts_anew(self):
        counter = self.package("counter", "add", "read")
        one = struct.pack("<4f", 1, 1, 1, 0.5)
        added, total, _, again = counter.calls(
            [("add", [one]), ("read", []), ("reset", []), ("read", [])])
        self.assertEqual(struct.unpack("<4f", added[0]), (2, 3, 4, 4.5))
        self.assertEqual(struct.unpack("<4f", total[0]), (20, 30, 40, 45))
        self.assertEqual(struct.unpack("<4f", again[0]), (10, 20, 30, 40))
        self.assertEqual([s["name"] for s in counter.manifest["state"]], ["counter.total"])
        counter.selftest()

    def test_state_of_one_method_lies_in_its_arena(self):
        counter = self.package("counter", "add")
        self.assertEqual(counter.manifest["state_bytes"], 0)
        one = struct.pack("<4f", 1, 1, 1, 1)
        first, second = counter.calls([("add", [one]), ("add", [one])])
        self.assertEqual(struct.unpack("<4f", first[0]), (2, 3, 4, 5))
        self.assertEqual(struct.unpack("<4f", second[0]), (3, 4, 5, 6))


if __name__ == "__main__":
    unittest.main()
