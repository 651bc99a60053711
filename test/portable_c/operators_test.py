# SPDX-License-Identifier: Apache-2.0
"""Every archive of test/models/operators as C, and what indices may not be."""

import os
import pathlib
import struct
import tempfile
import unittest

import arrays
import compared_folder
import npy_file
import package


class OperatorsTest(compared_folder.ComparedFolder, unittest.TestCase):
    models = pathlib.Path("test/models/operators").absolute()

    def test_an_index_that_is_out_of_range_fails_the_call(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        for name, place, sizes in (("indices", 2, (3, 4, 5)), ("puts", 2, (3, 4, 5)),
                                   ("scatters", 1, (3,))):
            built = package.Package(folder, "kws", [("forward", self.models / f"{name}.pt2")],
                                    more=package.UNOPTIMISED)
            given = [npy_file.read(f).data for f in sorted(self.models.glob(f"{name}.input_*.npy"))]
            built.run("forward", given)
            for i, size in enumerate(sizes):
                for bad in (size + 9, -size - 1, 2**62, -2**63):
                    with self.subTest(name, index=i, bad=bad):
                        inputs = list(given)
                        inputs[place + i] = struct.pack("<q", bad) + inputs[place + i][8:]
                        with self.assertRaisesRegex(AssertionError, "forward: 123"):  # E_DATA
                            built.run("forward", inputs)

    def test_sanitizers_find_nothing(self):
        for name in ("batch_norms", "divisions", "fills", "grids", "indices", "puts", "scatters"):
            with self.subTest(name):
                folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
                model = self.models / f"{name}.pt2"
                inputs = sorted(self.models.glob(f"{name}.input_*.npy"))
                built = package.Package(folder, "kws", [("forward", model)],
                                        more=package.SANITIZED)
                actual = built.run("forward", [npy_file.read(f).data for f in inputs])
                for a, e in zip(actual, arrays.interpreted(folder, model, inputs), strict=True):
                    self.assertTrue(arrays.same(a, e))

    def test_an_integer_that_is_divided_by_zero_fails_the_call(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        built = package.Package(folder, "kws", [("forward", self.models / "divisions.pt2")],
                                more=package.UNOPTIMISED)
        floats, whole, divisor = (npy_file.read(self.models / f"divisions.input_{i}.npy").data
                                  for i in range(3))
        built.run("forward", [floats, whole, divisor])
        for end in (8, len(divisor)):
            with self.assertRaisesRegex(AssertionError, "forward: 123"):  # E_DATA
                zeros = divisor[:end - 8] + bytes(8) + divisor[end:]
                built.run("forward", [floats, whole, zeros])


if __name__ == "__main__":
    unittest.main()
