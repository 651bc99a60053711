# SPDX-License-Identifier: Apache-2.0
"""--math fast: sums in floats are near eager torch, in vectors of two lengths and without any, and
what is not summed stays exact."""

import math
import os
import pathlib
import tempfile
import unittest

import arrays
import npy_file
import package

PORTABLE = pathlib.Path("test/models/portable").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
TOLERANCE = 1e-4  # of the largest element, as docs/portable_c.md says
FUSED = "-ffp-contract=fast"


# How far the functions of floats of a package are from those of the C library, in parts of the
# result; then what they make of the numbers that are none.
FUNCTIONS = """#include "net.c"
#include <math.h>
#include <stdio.h>
static double off(double actual, double expected) { return fabs(actual - expected) / fabs(expected); }
int main(void) {
  const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 89.0f, -200.0f};
  double most[3] = {0.0, 0.0, 0.0};
  for (int i = -860000; i < 880000; ++i) {
    const float x = (float)i * 1.0007e-4f;
    if (x == 0.0f) continue;
    most[0] = fmax(most[0], off(net_fast_exp(x), exp(x)));
    most[1] = fmax(most[1], off(net_fast_sigmoid(x), 1.0 / (1.0 + exp(-(double)x))));
    most[2] = fmax(most[2], off(net_fast_tanh(x), tanh(x)));
  }
  for (int i = 0; i < 3; ++i) printf("%d ", most[i] < 4e-7);
  for (int i = 0; i < 6; ++i) {
    printf("| %g %g %g ", fabsf(net_fast_exp(odd[i])), fabsf(net_fast_sigmoid(odd[i])),
           net_fast_tanh(odd[i]));
  }
  return 0;
}
"""

# The same of the error function: its distance in parts of 1, and of itself near 0.
ERF = """#include "net.c"
#include <math.h>
#include <stdio.h>
int main(void) {
  double most = 0.0, near = 0.0;
  for (int i = -1000000; i <= 1000000; ++i) {
    const float x = (float)i * 7e-6f;
    const double off = fabs(net_fast_erf(x) - erf(x));
    most = fmax(most, off);
    if (x != 0.0f && fabsf(x) < 0.5f) near = fmax(near, off / fabs(erf(x)));
  }
  printf("%d %d %d %d %d %d", most < 4e-7, near < 4e-7, net_fast_erf(NAN) != net_fast_erf(NAN),
         fabsf(net_fast_erf(INFINITY) - 1.0f) < 4e-7f, fabsf(net_fast_erf(-INFINITY) + 1.0f) < 4e-7f,
         net_fast_erf(-0.0f) == 0.0f && signbit(net_fast_erf(-0.0f)) != 0);
  return 0;
}
"""


class FastTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def package(self, model, more=()):
        return package.Package(self.folder, "net", [("forward", model)], ["--math", "fast"],
                               more=more)

    def near(self, actual, expected, what):
        a = npy_file.elements(npy_file.Array(expected.dtype, expected.shape, actual))
        e = npy_file.elements(expected)
        largest = max(abs(y) for y in e if math.isfinite(y))
        for x, y in zip(a, e, strict=True):
            if math.isfinite(y):
                self.assertLessEqual(abs(x - y), TOLERANCE * largest, what)
            else:
                self.assertTrue(x == y or (x != x and y != y), f"{what}: {x}, not {y}")

    def test_all_shapes_are_near_eager_torch(self):
        built = self.package(PORTABLE / "windows.pt2", ["-O2"])
        inputs = [npy_file.read(f).data for f in sorted(PORTABLE.glob("windows.input_*.npy"))]
        machine = ["-mavx2", "-mfma"] if " avx2 " in pathlib.Path("/proc/cpuinfo").read_text() else []
        for flags in (["-O2"], ["-O3", FUSED, *machine], ["-O2", "-U__SSE2__", "-U__aarch64__"]):
            with self.subTest(flags=flags):
                if built.more != flags:
                    built.compile("gcc", flags)
                for i, actual in enumerate(built.run("forward", inputs)):
                    eager = npy_file.read(PORTABLE / f"windows.output_{i}.npy")
                    self.near(actual, eager, f"output {i}")
                built.selftest()

    def test_functions_of_floats_are_near_and_take_every_number(self):
        inputs = [npy_file.read(f).data for f in sorted(LAYERS.glob("lstm.input_*.npy"))]
        built = self.package(LAYERS / "lstm.pt2")
        for i, actual in enumerate(built.run("forward", inputs)):
            self.near(actual, npy_file.read(LAYERS / f"lstm.output_{i}.npy"), f"output {i}")
        (self.folder / "functions.c").write_text(FUNCTIONS)
        for flags in (["-O0"], ["-O3", FUSED, "-fno-trapping-math"]):
            package.done(["gcc", "-std=c99", "-Wno-unused-function", *flags, "-Ic", "functions.c",
                          "c/net_params.c", "-lm", "-o", "functions"], self.folder)
            told = package.done(["./functions"], self.folder).replace("-nan", "nan")
            self.assertEqual(told, "1 1 1 | nan nan nan | inf 1 1 | 0 0 -1 | 1 0.5 0 "
                                   "| inf 1 1 | 0 0 -1 ")

    def test_norms_softmaxes_and_activations_are_near_eager_torch(self):
        for model in ("norms", "encoder", "activations", "attention"):
            with self.subTest(model=model):
                self.setUp()
                built = self.package(LAYERS / f"{model}.pt2", ["-O2", FUSED])
                inputs = sorted(LAYERS.glob(f"{model}.input_*.npy"))
                for i, actual in enumerate(
                        built.run("forward", [npy_file.read(f).data for f in inputs])):
                    self.near(actual, npy_file.read(LAYERS / f"{model}.output_{i}.npy"),
                              f"output {i}")

    def test_erf_is_near_everywhere(self):
        self.package(LAYERS / "activations.pt2", package.UNOPTIMISED)
        (self.folder / "erf.c").write_text(ERF)
        for flags in (["-O0"], ["-O3", FUSED, "-fno-trapping-math"]):
            package.done(["gcc", "-std=c99", "-Wno-unused-function", *flags, "-Ic", "erf.c",
                          "c/net_params.c", "-lm", "-o", "erf"], self.folder)
            self.assertEqual(package.done(["./erf"], self.folder), "1 1 1 1 1 1")

    def test_digits_are_near_and_other_bits_than_exact_ones(self):
        built = self.package(DIGITS)
        actual = built.run("forward", [npy_file.read(DIGIT).data])[0]
        expected = arrays.interpreted(self.folder, DIGITS, [DIGIT])[0]
        self.near(actual, expected, "scores")
        self.assertNotEqual(actual, expected.data)
        self.assertEqual(built.manifest["math"], "fast")
        built.selftest()

    def test_only_its_fragments_fuse(self):
        for math_mode, contract in (("fast", "-ffp-contract=fast"), ("exact", "-ffp-contract=off")):
            folder = self.folder / math_mode
            package.done([package.PETREL, "gen-c", DIGITS, "-o", folder, "--name", "net", "--math",
                          math_mode], self.folder)
            for file in ("net.mk", "net.cmake"):
                self.assertIn(contract, (folder / file).read_text())

    def test_self_test_notices_more_than_rounding(self):
        built = self.package(DIGITS, package.UNOPTIMISED)
        source = self.folder / "c/net_selftest.c"
        text = source.read_text()
        begin = text.index("_expected_")
        value = text.index("{", begin) + 1
        source.write_text(text[:value] + "1.0f + " + text[value:].lstrip())
        with self.assertRaises(AssertionError):
            built.selftest()


if __name__ == "__main__":
    unittest.main()
