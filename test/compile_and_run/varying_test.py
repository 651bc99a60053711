# SPDX-License-Identifier: Apache-2.0
"""Every archive of test/models/varying through `petrel export` and `petrel run`,
with kernels alone and with XNNPACK: the calls of one model, which differ in their
sizes or take other branches, all go to one program and give what eager torch
gives."""

import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import npy_file

import layers_test
from layers_test import PETREL, read

VARYING = pathlib.Path("test/models/varying").absolute()

# Calls of the backend that the method and its regions make at least, so that no
# test passes because nothing was delegated.
DELEGATED = {"mlp": 1, "cnn_batch": 1, "cnn_image": 1, "encoder": 2, "prefill": 1,
             "cond": 2, "cond_varying": 2, "cond_nested": 1, "map_rows": 1, "map_varying": 1,
             "scan_rows": 1, "scan_varying": 1, "while_bound": 1}


def petrel(folder, *words):
    return subprocess.run([PETREL, *map(str, words)], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class VaryingTest(unittest.TestCase):
    compare = layers_test.LayersTest.compare

    def export(self, name, backend):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        done = petrel(folder, "export", VARYING / f"{name}.pt2", "-o", "m.pte",
                      "--backend", backend, "--partition", "supported", "--report")
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder, done.stdout

    def run_call(self, folder, name, call):
        inputs = [w for f in sorted(VARYING.glob(f"{name}.{call}.input_*.npy"))
                  for w in ("--input", f)]
        done = petrel(folder, "run", "m.pte", *inputs, "--output-dir", call)
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = list(VARYING.glob(f"{name}.{call}.output_*.npy"))
        self.assertEqual(len(list((folder / call).iterdir())), len(expected))
        for file in expected:
            self.compare(file.name, read(folder / call / file.name.split(".", 2)[2]), read(file))

    def test_all_sizes_and_branches_agree_with_eager_torch(self):
        names = sorted(f.stem for f in VARYING.glob("*.pt2"))
        self.assertGreaterEqual(len(names), 11)
        for name in names:
            calls = sorted({f.name.split(".")[1] for f in VARYING.glob(f"{name}.*.npy")})
            self.assertGreaterEqual(len(calls), 2, name)
            for backend in ("none", "xnnpack"):
                with self.subTest(model=name, backend=backend):
                    folder, _ = self.export(name, backend)
                    data = (folder / "m.pte").read_bytes()
                    if backend == "xnnpack":
                        self.assertGreaterEqual(data.count(b"XN00") + data.count(b"XN01"),
                                                DELEGATED.get(name, 0))
                    for call in calls:
                        self.run_call(folder, name, call)

    def test_sizes_beyond_a_bound_are_told_even_if_they_fit(self):
        # As many elements as the largest image has, in rows that are too long; rows
        # that are too short; another number of channels, which does not vary.
        for shape, dim, size, least, most in (((1, 3, 16, 64), 3, 64, 8, 32),
                                              ((1, 3, 7, 16), 2, 7, 8, 32),
                                              ((1, 2, 16, 16), 1, 2, 3, 3)):
            self.refuses(shape, f"input 0 has size {size} in dim {dim}, must be in "
                         f"[{least}, {most}]")

    def refuses(self, shape, message):
        folder, _ = self.export("cnn_image", "none")
        zeros = npy_file.written("<f4", shape, [0] * math.prod(shape))
        (folder / "x.npy").write_bytes(zeros)
        done = petrel(folder, "run", "m.pte", "--input", "x.npy")
        self.assertEqual(done.returncode, 1)
        self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
