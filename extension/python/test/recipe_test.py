# SPDX-License-Identifier: Apache-2.0
"""What a program from Python remembers, `petrel data build` can do again."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy
import petrel

COMMAND = "extension/cli/petrel"
LAYERS = "test/models/layers"


class RecipeTest(unittest.TestCase):

    def build(self, model, **options):
        """Makes the weights of the program anew; returns what `petrel inspect` says of it."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        program = petrel.export(f"{LAYERS}/{model}.pt2", weight_keys="name",
                                external_weights="old.ptd", **options)
        program.save(folder / "old.pte")
        done = subprocess.run([COMMAND, "data", "build", "--from", f"{LAYERS}/{model}.pt2",
                               "--for", folder / "old.pte", "-o", folder / "new.ptd"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        inputs = [numpy.load(f"{LAYERS}/{model}.input_0.npy")]
        old, new = (petrel.load(folder / "old.pte", data=[folder / name])["forward"](*inputs)
                    for name in ("old.ptd", "new.ptd"))
        for wanted, made in zip(old, new):
            numpy.testing.assert_array_equal(made, wanted)
        return subprocess.run([COMMAND, "inspect", folder / "old.pte"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout

    def test_operators_that_only_petrel_has(self):
        self.assertIn("petrel::attention",
                      self.build("encoder", backend=None, allow_petrel_ops=True))

    def test_partitions(self):
        self.build("encoder", partition="supported")
        self.build("gru", partition="cost")


if __name__ == "__main__":
    unittest.main()
