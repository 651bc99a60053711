# SPDX-License-Identifier: Apache-2.0
"""A compiled module has its code for several levels of x86-64, computes the same bits at each of
them, takes the best that it may, and has its parameters once."""

import ctypes
import os
import pathlib
import subprocess
import tempfile
import unittest

import arrays
import npy_file
from command import IS_NIGHTLY, PETREL, QUICK_PLAN, compiler_here, done

DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
CELL = PORTABLE / "cell.pt2"
# Names of --isa, and what the processor then has.
CAPS = {"sse2": [], "avx2": ["avx2", "fma", "f16c", "bmi1", "bmi2"],
        "avx512skx": ["avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"]}
FLAGS = pathlib.Path("/proc/cpuinfo").read_text().split()


class ModuleLevelsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        machine = done(["gcc", "-dumpmachine"], self.folder)
        if not machine.startswith("x86_64-"):
            self.skipTest("levels are those of x86-64")
        self.caps = [cap for cap, needs in CAPS.items() if set(needs) <= set(FLAGS)]

    def made(self, model, *words, cc="gcc"):
        done(["env", f"CC={cc}", PETREL, "gen-c", model, "-o", "c", "--name", "net", "--compile",
              "so", *QUICK_PLAN, *words], self.folder)
        return self.folder / "c/libnet.so"

    def outputs(self, library, cap, inputs):
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        given = [w for file in inputs for w in ("--input", file)]
        done([PETREL, "run", "--compiled", library, "--isa", cap, *given, "--output-dir", out],
             self.folder)
        return [npy_file.read(out / f"output_{i}.npy") for i in range(len(list(out.iterdir())))]

    def test_every_level_computes_the_bits_of_the_interpreter(self):
        for folder, name, handful in ((PORTABLE, "windows", ()), (PORTABLE, "planes", ("clang",)),
                                      (LAYERS, "lstm", ("gcc",)),
                                      (LAYERS, "conv_transposed", ("clang",))):
            inputs = sorted(folder.glob(f"{name}.input_*.npy"))
            own = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            expected = arrays.interpreted(own, folder / f"{name}.pt2", inputs)
            for compiler in ("gcc", "clang") if IS_NIGHTLY else handful:
                library = self.made(folder / f"{name}.pt2", cc=compiler_here(compiler))
                for cap in [*self.caps, "native"]:
                    with self.subTest(model=name, compiler=compiler, cap=cap):
                        for a, e in zip(self.outputs(library, cap, inputs), expected, strict=True):
                            self.assertTrue(arrays.same(a.data, e))

    def test_code_and_metadata_are_there_for_each_level(self):
        library = self.made(CELL)
        get = ctypes.CDLL(str(library)).petrel_compiled_model
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_uint32]
        models = [get(level) for level in (0, 1, 2, 0xffffffff)]
        self.assertEqual(len(set(models)), len(self.caps))
        self.assertEqual(models[3], models[2])

    def test_the_processor_is_asked_and_not_the_library_of_the_compiler(self):
        # As zig's answers.
        library = self.made(CELL, cc="gcc -D__builtin_cpu_supports(x)=0")
        get = ctypes.CDLL(str(library)).petrel_compiled_model
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_uint32]
        self.assertEqual(len({get(level) for level in (0, 1, 2)}), len(self.caps))

    def test_fused_sums_show_which_level_a_run_takes(self):
        if "avx2" not in self.caps:
            self.skipTest("this processor has no avx2")
        library = self.made(DIGITS, "--math", "fast")
        eager = npy_file.elements(arrays.interpreted(self.folder, DIGITS, [DIGIT])[0])
        data = set()
        for cap in ("sse2", "avx2"):
            output = self.outputs(library, cap, [DIGIT])[0]
            data.add(output.data)
            for x, y in zip(npy_file.elements(output), eager, strict=True):
                self.assertLessEqual(abs(x - y), 1e-4 * max(map(abs, eager)))
        self.assertEqual(len(data), 2)

    def test_a_linker_that_drops_what_nothing_refers_to_keeps_the_header(self):
        for words in ((), ("--target", "rv32")):
            library = self.made(CELL, *words, cc="gcc -Wl,--gc-sections")
            self.assertIn("abi_version", done([PETREL, "inspect", library], self.folder))

    def test_parameters_are_there_once(self):
        for constants in ("text", "incbin"):
            library = self.made(DIGITS, "--constants", constants).read_bytes()
            done([PETREL, "gen-c", DIGITS, "-o", "bytes", "--constants", "incbin"], self.folder)
            parameters = (self.folder / "bytes/model_params.bin").read_bytes()
            for start in range(0, len(parameters) - 256, 4096):
                piece = parameters[start:start + 256]
                self.assertEqual(library.count(piece), 1, f"{constants}, byte {start}")

    def test_flags_and_other_targets_have_the_compiler_decide(self):
        sizes = {}
        for name, cc, words in (("open", "gcc", []), ("m64", "gcc -m64", []),
                                ("x86-64", "gcc", ["--target", "x86-64"]),
                                ("march", "gcc -march=x86-64", []),
                                ("mavx", "gcc -mavx", []), ("rv32", "gcc", ["--target", "rv32"])):
            sizes[name] = self.made(CELL, *words, cc=cc).stat().st_size
        self.assertEqual(sizes["open"], sizes["m64"])
        self.assertEqual(sizes["open"], sizes["x86-64"])
        for name in ("march", "mavx", "rv32"):
            self.assertLess(sizes[name], sizes["open"], name)

    def test_a_level_that_does_not_compile_is_an_error_and_nothing_is_written(self):
        (self.folder / "cc").write_text(
            '#!/bin/sh\ncase "$*" in *-mavx512f*) echo no such level >&2; exit 3;; esac\n'
            'exec gcc "$@"\n')
        (self.folder / "cc").chmod(0o755)
        result = subprocess.run([PETREL, "gen-c", CELL, "-o", "none", "--compile", "so"],
                                cwd=self.folder, text=True, stderr=subprocess.PIPE,
                                env={**os.environ, "CC": str(self.folder / "cc")})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"-mavx512f .*failed with exit code 3\n  no such level")
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main()
