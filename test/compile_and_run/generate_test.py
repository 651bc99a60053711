# SPDX-License-Identifier: Apache-2.0
"""Greedy generation with `petrel run --call`: every call reads the token that
the call before it wrote, and the tokens are those of eager torch."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
STATE = pathlib.Path("test/models/state").absolute()
PROMPT, CONTEXT = 8, 64


def write_int64(path, shape, values):
    path.write_bytes(npy_file.written("<i8", shape, values))
    return path


def read_int64(path):
    array = npy_file.read(path)
    assert array.dtype == "<i8", path
    return list(npy_file.elements(array))


class GenerateTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def petrel(self, *arguments):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def export(self, methods, *more):
        words = [w for m in methods for w in ("--method", f"{m}={STATE / methods[m]}")]
        return self.petrel("export", *words, "-o", "m.pte", *more)

    def export_decoder(self, *more):
        result = self.export({"prefill": "decoder.prefill.pt2",
                              "decode": "decoder.decode.pt2"}, *more)
        self.assertEqual(result.returncode, 0, result.stderr)

    def decode_call(self, token, position):
        at = write_int64(self.folder / f"at_{position}.npy", (1,), [position])
        return ["--call", f"decode:{token},{at}"]

    def generate(self, *more):
        calls = ["--call", f"prefill:{STATE / 'decoder.prompt.npy'}"]
        expected = read_int64(STATE / "decoder.tokens.npy")
        for i in range(len(expected) - 1):
            calls += self.decode_call(f"out/call_{i}_output_1.npy", PROMPT + i)
        result = self.petrel("run", "m.pte", *more, *calls, "--output-dir", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        tokens = [read_int64(self.folder / "out" / f"call_{i}_output_1.npy")[0]
                  for i in range(len(expected))]
        self.assertEqual(tokens, expected)

    def test_tokens_are_those_of_eager_torch(self):
        for backend in ("none", "xnnpack"):
            with self.subTest(backend):
                self.export_decoder("--backend", backend)
                self.generate()
                self.export_decoder("--backend", backend, "--external-weights", "m.ptd")
                self.generate("--data", "m.ptd")

    def test_calls_beyond_the_context_and_unknown_tokens_fail(self):
        self.export_decoder()
        token = write_int64(self.folder / "token.npy", (1, 1), [5])
        self.assertEqual(self.petrel("run", "m.pte", *self.decode_call(token, CONTEXT - 1))
                         .returncode, 0)
        late = self.petrel("run", "m.pte", *self.decode_call(token, CONTEXT))
        self.assertNotEqual(late.returncode, 0)
        self.assertIn(f"index {CONTEXT} is outside a dim of size {CONTEXT}", late.stderr)
        unknown = write_int64(self.folder / "unknown.npy", (1, 1), [64])
        wrong = self.petrel("run", "m.pte", *self.decode_call(unknown, PROMPT))
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("index 64 must be in [0, 64)", wrong.stderr)

    def test_refuses_state_of_one_name_that_differs(self):
        result = self.export({"add": "counter.add.pt2", "other": "other.add.pt2"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("state 'counter.total' starts with other values than in method 'add'",
                      result.stderr)
        self.assertFalse((self.folder / "m.pte").exists())

    def test_the_report_tells_the_state(self):
        report = self.export({"prefill": "decoder.prefill.pt2", "decode": "decoder.decode.pt2"},
                             "--report").stdout
        # Two layers of keys and values, [1, 2, 64, 16] floats each, and slack.
        self.assertIn(f"state            {4 * 2 * 64 * 16 * 4 + 64} bytes", report)

    def test_a_cache_is_updated_where_it_lies(self):
        self.export_decoder("--backend", "none")
        shown = self.petrel("inspect", "m.pte").stdout
        self.assertIn("index_put_", shown)
        self.assertNotIn("aten::copy_", shown)
        self.assertNotIn("slice_scatter", shown)


if __name__ == "__main__":
    unittest.main()
