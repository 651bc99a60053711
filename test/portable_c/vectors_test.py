# SPDX-License-Identifier: Apache-2.0
"""Convolutions and products of many shapes are the interpreter's bit for bit, whatever the
compiler makes of them: in vectors of two lengths and without any, in parts, at each level of
optimisation."""

import os
import pathlib
import tempfile
import unittest

import arrays
import npy_file
import package
from command import IS_NIGHTLY, compiler_here

PORTABLE = pathlib.Path("test/models/portable").absolute()
# What a processor must have, and the flags that make a compiler use it.
LONGER = {
    "avx": ["-mavx"],
    "avx2": ["-mavx2", "-mfma"],
    "avx512f": ["-mavx512f", "-mfma"],
}
# Of all with both compilers, what CI runs of each model.
HANDFUL = {"windows": {("avx2", "gcc"), ("avx512f", "clang")},
           "planes": {("avx2", "clang"), ("avx512f", "gcc")},
           "channels": {("avx2", "gcc"), ("avx512f", "clang")},
           "products": {("avx2", "gcc"), ("avx512f", "gcc")}}
LEVELS = ("-O0", "-O2", "-O3", "-Os") if IS_NIGHTLY else ("-O0", "-Os")
FLAGS = pathlib.Path("/proc/cpuinfo").read_text().split()


class Vectors:
    """The tests of one model."""
    convolutions = 6  # functions of them, at least

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.inputs = sorted(PORTABLE.glob(f"{cls.model}.input_*.npy"))
        model = PORTABLE / f"{cls.model}.pt2"
        cls.built = package.Package(cls.folder, "net", [("forward", model)],
                                    more=package.UNOPTIMISED)
        cls.expected = arrays.interpreted(cls.folder, model, cls.inputs)

    def check(self, *flags, compiler="gcc"):
        self.built.compile(compiler, flags)
        actual = self.built.run("forward", [npy_file.read(f).data for f in self.inputs])
        for i, (a, e) in enumerate(zip(actual, self.expected, strict=True)):
            self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")

    def test_the_interpreter_agrees_with_eager_torch(self):
        for i, expected in enumerate(self.expected):
            eager = npy_file.read(PORTABLE / f"{self.model}.output_{i}.npy")
            for x, y in zip(npy_file.elements(expected), npy_file.elements(eager), strict=True):
                self.assertTrue(abs(x - y) <= 1e-4 or x == y or (x != x and y != y), f"output {i}")

    def test_no_level_of_optimisation_changes_a_bit(self):
        for level in LEVELS:
            with self.subTest(level=level):
                self.check(level)

    def test_longer_vectors_change_no_bit(self):
        for feature, flags in LONGER.items():
            for compiler in ("gcc", "clang"):
                if not IS_NIGHTLY and (feature, compiler) not in HANDFUL[self.model]:
                    continue
                with self.subTest(feature=feature, compiler=compiler):
                    if feature not in FLAGS:
                        self.skipTest(f"this processor has no {feature}")
                    self.check("-O3", *flags, compiler=compiler_here(compiler))

    def test_a_compiler_without_vectors_changes_no_bit(self):
        self.check("-O2", "-U__SSE2__", "-U__aarch64__")

    def test_a_convolution_keeps_no_more_on_the_stack_than_it_may_and_changes_no_bit(self):
        for size in (1, 2000, 65536):
            with self.subTest(bytes=size):
                self.check("-O2", f"-DNET_STACK_BYTES={size}", "-fstack-usage")
                lines = [line.split("\t") for file in sorted(self.folder.rglob("*.su"))
                         for line in file.read_text().splitlines()]
                frames = [int(frame) for name, frame, _ in lines if "kernel_convolution" in name]
                self.assertGreaterEqual(len(frames), self.convolutions)
                # Sums of a tile and registers come on top.
                self.assertLess(max(frames), size + 1024)


class WindowsTest(Vectors, unittest.TestCase):
    model = "windows"


class PlanesTest(Vectors, unittest.TestCase):
    model = "planes"


class ChannelsTest(Vectors, unittest.TestCase):
    model = "channels"


class ProductsTest(Vectors, unittest.TestCase):
    model = "products"
    convolutions = 2


if __name__ == "__main__":
    unittest.main()
