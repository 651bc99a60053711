# SPDX-License-Identifier: Apache-2.0
"""Half and bfloat16 in C: bit for bit what the interpreter computes with the reference kernels, near
eager torch, and every element of either type converted as the struct module does it."""

import math
import os
import pathlib
import struct
import tempfile
import unittest

import arrays
import npy_file
import package
from command import IS_NIGHTLY, ONE_LEVEL, PETREL, done

NARROW = pathlib.Path("test/models/narrow").absolute()
HALF = pathlib.Path("test/half/programs").absolute()
# Of the largest element: a few units of the last place, as torch sums in floats.
NEAR = {"f16": 4e-3, "bf16": 3e-2}
DTYPE = {"f16": "<f2", "bf16": "<V2"}
FLAGS = {"one at a time": ["-U__SSE2__", "-U__aarch64__"], "vectors": ["-O2"],
         "vectors of halves": ["-O2", "-mavx", "-mf16c"]}


def on_this_machine(flags):
    known = pathlib.Path("/proc/cpuinfo").read_text().split()
    return all(flag[2:] in known for flag in flags if flag.startswith("-m"))


def inputs_of(folder, name):
    count = len(list(folder.glob(f"{name}.input_*.npy")))
    return [folder / f"{name}.input_{i}.npy" for i in range(count)]


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def numbers(dtype, data):
    return npy_file.elements(npy_file.Array(dtype, (len(data) // 2,), data))


def as_float(x):
    """The float nearest to x; infinite beyond the last."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def narrowed(word, x):
    """The bits of the element nearest to a float, of two the even one."""
    if word == "f16":
        try:
            return struct.pack("<e", x)
        except OverflowError:
            return struct.pack("<e", math.copysign(math.inf, x))
    bits, = struct.unpack("<I", struct.pack("<f", x))
    low, up = bits >> 16, bits & 0xffff
    return struct.pack("<H", low + (up > 0x8000 or (up == 0x8000 and low % 2 == 1)))


class NarrowTest(unittest.TestCase):
    def package(self, model, *words, more=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        return package.Package(self.folder, "net", [("forward", model)], words, more=more)

    def check_near(self, actual, eager, limit, what):
        self.assertEqual((actual.dtype, actual.shape), (eager.dtype, eager.shape), what)
        a, e = npy_file.elements(actual), npy_file.elements(eager)
        largest = max((abs(v) for v in e if math.isfinite(v)), default=0)
        for x, y in zip(a, e, strict=True):
            if isinstance(y, float) and math.isfinite(y):
                self.assertLessEqual(abs(x - y), limit * largest, what)
            else:
                self.assertTrue(x == y or (x != x and y != y), f"{what}: {x}, not {y}")

    def test_programs_agree_with_the_interpreter_and_with_eager_torch(self):
        for name in ("functions_f16", "functions_bf16", "moves_f16", "moves_bf16", "promotions_f16",
                     "promotions_bf16", "windows_f16", "windows_bf16"):
            with self.subTest(name):
                kind, word = name.split("_")
                model, inputs = NARROW / f"{name}.pt2", inputs_of(NARROW, name)
                built = self.package(model, more=FLAGS["vectors"])
                expected = arrays.interpreted(self.folder, model, inputs)
                given = [npy_file.read(f).data for f in inputs]
                for what, flags in FLAGS.items():
                    if (kind != "windows" and what != "vectors") or not on_this_machine(flags):
                        continue
                    if built.more != flags:
                        built.compile("gcc", flags)
                    for i, (a, e) in enumerate(zip(built.run("forward", given), expected, strict=True)):
                        self.assertTrue(arrays.same(a, e), f"output {i} differs with {what}")
                        self.check_near(npy_file.Array(e.dtype, e.shape, a),
                                        npy_file.read(NARROW / f"{name}.output_{i}.npy"),
                                        NEAR[word], f"output {i}")
                    built.selftest()

    def test_every_element_is_converted(self):
        for name, (word, dtype) in zip(("casts_f16", "casts_bf16"), DTYPE.items(), strict=True):
            every = struct.pack("<65536H", *range(65536))
            values = numbers(dtype, every)
            finite = sorted(v for v in values if math.isfinite(v))
            # What lies between, ties among them, beyond the ends, and near nothing.
            between = [as_float((a + b) / 2) for a, b in zip(finite[::97], finite[1::97])]
            edge = finite[-1] + (finite[-1] - finite[-2]) / 2
            wide = (between + [-math.inf, math.inf, math.nan, as_float(edge), as_float(edge * (1 - 2**-20)),
                               1e-45, -1e-45, 2**-25, -2**-25, as_float(2**-25 * 1.0001)])[-400:]
            wide += [0.0] * (400 - len(wide))
            double = [w + (2.0**-60 if w > 0 else 0) for w in wide]
            whole = [0, 1, -1, 257, 259, 2049, 2051, 65519, 65520, -65520, 2**24 + 1, 2**53 + 1,
                     2**62 + 2**40 + 1, -2**63, 2**63 - 1, 3]
            given = [every, floats(wide), struct.pack("<400d", *double), struct.pack("<16q", *whole)]
            built = self.package(NARROW / f"{name}.pt2")
            flags = FLAGS["vectors of halves"]
            for more in ([], flags) if on_this_machine(flags) and word == "f16" else ([],):
                if more:
                    built.compile("gcc", more)
                self.check_casts(word, values, wide, double, whole, built.run("forward", given))

    def check_casts(self, word, values, wide, double, whole, actual):
        as_floats = npy_file.Array("<f4", (65536,), floats(values))
        self.assertTrue(arrays.same(actual[0], as_floats))
        self.assertTrue(arrays.same(actual[1], npy_file.Array("<f8", (65536,), struct.pack("<65536d", *values))))
        longs, ints = struct.unpack("<65536q", actual[2]), struct.unpack("<65536i", actual[3])
        for x, along, an_int in zip(values, longs, ints, strict=True):
            if math.isfinite(x) and abs(x) < 2**63:
                self.assertEqual(along, int(x))
            if math.isfinite(x) and abs(x) < 2**31:
                self.assertEqual(an_int, int(x))
        self.assertEqual(actual[4], bytes(x > 0 for x in values))
        for other, bits in (("f16", actual[5]), ("bf16", actual[6])):
            expected = b"".join(narrowed(other, x) if x == x else struct.pack("<H", 0x7fff) for x in values)
            self.assertTrue(arrays.same(bits, npy_file.Array(DTYPE[other], (65536,), expected)), other)
        given = [wide, double, whole, [(w + 2**31) % 2**32 - 2**31 for w in whole], [w > 0 for w in whole]]
        for i, row in enumerate(given):
            expected = b"".join(narrowed(word, as_float(x)) if x == x else struct.pack("<H", 0x7fff)
                                for x in row)
            self.assertTrue(arrays.same(actual[7 + i], npy_file.Array(DTYPE[word], (len(row),), expected)),
                            f"cast {i} to {word}")

    def test_networks_in_all_memories_and_as_modules(self):
        for name, words in (("image", ("--io", "caller")), ("words", ("--pool", "sram=256K")),
                            ("cell", ("--constants", "incbin"))):
            model, file = HALF / f"{name}.pt2", HALF / f"{name}.input.npy"
            built = self.package(model, *words, more=package.UNOPTIMISED)
            expected, = arrays.interpreted(self.folder, model, [file])
            self.check_near(expected, npy_file.read(HALF / f"{name}.eager.npy"), NEAR["f16"], name)
            self.assertEqual(built.run("forward", [npy_file.read(file).data]), [expected.data])
            built.selftest()
            made = self.folder / name
            done([*ONE_LEVEL, PETREL, "gen-c", model, "-o", made, "--name", "net", "--compile", "so"], self.folder)
            done([PETREL, "run", "--compiled", made / "libnet.so", "--input", file, "--output-dir",
                  made / "out"], self.folder)
            self.assertEqual(npy_file.read(made / "out/output_0.npy"), expected)

    def test_fast_math_is_near(self):
        for word in NEAR:
            model, inputs = NARROW / f"windows_{word}.pt2", inputs_of(NARROW, f"windows_{word}")
            handful = "vectors of halves" if word == "f16" else "one at a time"
            built = self.package(model, "--math", "fast", more=FLAGS["vectors"])
            given = [npy_file.read(f).data for f in inputs]
            for what, flags in FLAGS.items():
                if not on_this_machine(flags) or not (IS_NIGHTLY or what == handful):
                    continue
                built.compile("gcc", flags)
                eager = npy_file.read(NARROW / f"windows_{word}.output_0.npy")
                actual, = built.run("forward", given)
                self.check_near(npy_file.Array(eager.dtype, eager.shape, actual), eager, NEAR[word], word)
                built.selftest()


if __name__ == "__main__":
    unittest.main()
