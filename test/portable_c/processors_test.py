# SPDX-License-Identifier: Apache-2.0
"""Programs as C of other compilers and for other processors are the interpreter's bit for bit:
clang; Linux on arm64 and riscv64, emulated; Cortex-M4, whose doubles are computed in software,
Cortex-M7, Cortex-M55 and RISC-V of 32 bits, which has no floating point, emulated boards without
an operating system.

  test/portable_c/compilers            installs compilers and emulators
  bazel test //test/portable_c:processors_test
"""

import dataclasses
import os
import pathlib
import struct
import tempfile
import unittest

import arrays
import npy_file
import package
from command import done

HERE = pathlib.Path("test/portable_c").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
MODELS = pathlib.Path("test/models").absolute()
QUANTIZED = pathlib.Path("test/quantized").absolute()
INTEGERS = [QUANTIZED / f"integer/{name}.pt2" for name in ("keywords", "autoencoder", "many", "shapes")]
INTEGERS += [QUANTIZED / f"programs/{name}.pt2" for name in ("image_channel", "rows")]
# Of floats, with records beside them.
INTEGERS += [QUANTIZED / f"floats/{name}.pt2"
             for name in ("both", "encoder", "groups", "stream", "unet")]
SIZES = MODELS / "varying"
VARYING = ("mlp", "cnn_image", "encoder", "prefill", "cond_nested", "map_varying", "scan_varying", "while_bound",
           "found_rows", "resizes")
STATE = MODELS / "state"
POOLS = ("--pool", "name=fast,limit=12K,align=32", "--pool", "name=slow", "--pool",
         "name=rom,kind=ro,section=.rodata.rom", "--link-param", "*bias*=rom")
FOLDERS = [MODELS / name for name in ("layers", "levels", "narrow", "operators", "portable")]
FOLDERS += [QUANTIZED / "programs"]


def calls():
    """(archive, inputs) of every program with inputs on record that all targets can take."""
    found = [(DIGITS, [DIGITS.with_name("digit.npy")])]
    for archive in sorted(path for folder in FOLDERS for path in folder.glob("*.pt2")):
        inputs = sorted(archive.parent.glob(f"{archive.stem}.input*.npy"),
                        key=lambda path: (len(path.name), path.name))
        # The names of one cannot be written as C, as odd_models_test has it.
        if inputs and archive.stem != "cases":
            found.append((archive, inputs))
    return found


@dataclasses.dataclass
class Processor:
    """A compiler, and what runs its programs; `board` is one of QEMU's, with memory at `memory`
    and so much of it, and of code."""

    compiler: str
    flags: tuple[str, ...] = ()
    emulator: tuple[str, ...] = ()
    linking: tuple[str, ...] = ()
    board: str = ""
    memory: str = "0x20000000"
    kilobytes: int = 4096

    @property
    def is_bare(self):
        """Without an operating system, which would pass on the words of a command."""
        return self.board or "-kernel" in self.emulator

    def __post_init__(self):
        if self.board:
            self.flags += ("-mthumb", "-mfloat-abi=hard")
            self.emulator = ("qemu-system-arm", "-M", self.board, "-nographic", "-monitor", "none",
                             "-serial", "null", "-semihosting-config", "enable=on,target=native",
                             "-kernel")


class Built(package.Package):
    """A package for a processor; its programs are run by the emulator."""

    def __init__(self, folder, name, methods, processor, words=(), arguments=("forward",)):
        self.processor = processor
        self.arguments = arguments  # of boards, whose programs get no words
        super().__init__(folder, name, methods, words, processor.compiler, processor.flags)

    def compile(self, compiler="gcc", more=()):
        super().compile(compiler, more)
        self.compiled(f"{self.name}_metadata.c")

    def link(self, name):
        source = self.folder / "app.c"
        if name == "selftest":
            source = self.folder / "selftest.o"
            self.compile_to(source, "-c", f"-D{self.name.upper()}_SELFTEST_MAIN",
                            self.folder / "c" / f"{self.name}_selftest.c")
        else:
            source.write_text(self.app())
        processor = self.processor
        rest = list(processor.linking) or (["-static"] if processor.emulator else [])
        if processor.board:
            arguments = ", ".join(f'"{word}"' for word in self.arguments)
            rest = [f"-DARGUMENTS={arguments}", HERE / "board.c", "--specs=rdimon.specs",
                    "-nostartfiles", "-T", HERE / "board.ld",
                    f"-Wl,--defsym=memory={processor.memory}",
                    f"-Wl,--defsym=bytes={1024 * processor.kilobytes}"]
        done([processor.compiler, "-std=c11", *processor.flags, f"-I{self.folder / 'c'}", source,
              *self.objects, *rest, "-lm", "-o", self.folder / f"{name}.elf"], self.folder)
        # What is run does as an emulator is asked.
        script = self.folder / name
        emulator = " ".join(processor.emulator)
        words = "" if processor.is_bare else ' "$@"'
        if processor.is_bare and not processor.board:
            # The emulator has them as an option; the C library puts a name of its own before them.
            emulator = emulator.replace("target=native", 'target=native$words')
        script.write_text('#!/bin/sh\nfor word; do words="$words,arg=$word"; done\n'
                          f"exec {emulator} {self.folder / name}.elf{words}\n")
        script.chmod(0o755)


CORTEX_M4 = Processor("arm-none-eabi-gcc", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"),
                      board="mps2-an386")
CORTEX_M7 = Processor("arm-none-eabi-gcc", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16"),
                      board="mps2-an500")
CORTEX_M55 = Processor("arm-none-eabi-gcc", ("-mcpu=cortex-m55",), board="mps3-an547",
                       memory="0x30000000", kilobytes=512)
CLANG = Processor("clang")
ARM64 = Processor("aarch64-linux-gnu-gcc", emulator=("qemu-aarch64",))
# picolibc's own start and linker script, with memory where QEMU has it.
RISCV32 = Processor("riscv64-unknown-elf-gcc",
                    ("-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"),
                    ("qemu-system-riscv32", "-M", "virt", "-bios", "none", "-nographic", "-monitor",
                     "none", "-serial", "null", "-semihosting-config", "enable=on,target=native",
                     "-kernel"),
                    ("--oslib=semihost", "--crt0=semihost",
                     "-Wl,--defsym=__flash=0x80000000", "-Wl,--defsym=__flash_size=0x400000",
                     "-Wl,--defsym=__ram=0x80400000", "-Wl,--defsym=__ram_size=0x400000"))
RISCV64 = Processor("riscv64-linux-gnu-gcc", emulator=("qemu-riscv64",))


class EveryProcessor:
    """What each compiler and processor of the list is checked with."""

    def test_clang(self):
        self.check(CLANG)

    def test_arm64(self):
        self.check(ARM64)

    def test_riscv64(self):
        self.check(RISCV64)

    def test_riscv32(self):
        self.check(RISCV32)

    def test_cortex_m4(self):
        self.check(CORTEX_M4)

    def test_cortex_m7(self):
        self.check(CORTEX_M7)

    def test_cortex_m55(self):
        self.check(CORTEX_M55)


class ProcessorsTest(EveryProcessor, unittest.TestCase):

    def check(self, processor):
        root = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        models = calls()
        self.assertGreaterEqual(len(models), 80)
        for model, inputs in models:
            with self.subTest(model=f"{model.parent.name}/{model.stem}"):
                folder = root / model.parent.name / model.stem
                folder.mkdir(parents=True)
                built = Built(folder, "net", [("forward", model)], processor)
                actual = built.run("forward", [npy_file.read(f).data for f in inputs])
                expected = arrays.interpreted(folder, model, inputs)
                for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
                    self.assertTrue(arrays.same(a, e), f"output {i} differs from the interpreter's")
                built.selftest()


class MethodsTest(EveryProcessor, unittest.TestCase):
    """Sizes that vary, branches, loops, two pools, and methods that share state."""

    def folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def check_varying(self, processor):
        for name in VARYING:
            built = Built(self.folder(), "net", [("forward", SIZES / f"{name}.pt2")], processor)
            varies = ["least_shape" in row for row in built.manifest["methods"][0]["inputs"]]
            calls = sorted({f.name.split(".")[1] for f in SIZES.glob(f"{name}.call_*.npy")})
            self.assertGreater(len(calls), 1)
            for call in calls:
                with self.subTest(model=name, call=call):
                    inputs = sorted(SIZES.glob(f"{name}.{call}.input_*.npy"))
                    given = [npy_file.read(f) for f in inputs]
                    actual = built.run("forward", [a if v else a.data for a, v in
                                                   zip(given, varies, strict=True)])
                    expected = arrays.interpreted(self.folder(), SIZES / f"{name}.pt2", inputs)
                    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
                        self.assertEqual(built.shapes[0][i], e.shape)
                        self.assertTrue(arrays.same(a, e), f"output {i}")
            built.selftest()

    def check_pools(self, processor):
        inputs = [DIGITS.with_name("digit.npy")]
        built = Built(self.folder(), "net", [("forward", DIGITS)], processor, POOLS)
        self.assertTrue(all(pool["bytes"] > 0 for pool in built.manifest["pools"]))
        actual = built.run("forward", [npy_file.read(f).data for f in inputs])
        expected = arrays.interpreted(self.folder(), DIGITS, inputs)
        self.assertTrue(arrays.same(actual[0], expected[0]))
        built.selftest()

    def check_state(self, processor):
        # What eager torch makes of it; see state_test.py.
        one = struct.pack("<4f", 1, 1, 1, 0.5)
        calls = [("add", [one]), ("read", []), ("reset", []), ("read", [])]
        built = Built(self.folder(), "net", [(m, STATE / f"counter.{m}.pt2")
                                             for m in ("add", "read")],
                      processor, POOLS[:4], [method for method, _ in calls])
        added, total, _, again = built.calls(calls)
        self.assertEqual(struct.unpack("<4f", added[0]), (2, 3, 4, 4.5))
        self.assertEqual(struct.unpack("<4f", total[0]), (20, 30, 40, 45))
        self.assertEqual(struct.unpack("<4f", again[0]), (10, 20, 30, 40))
        built.selftest()

    def check(self, processor):
        self.check_state(processor)
        self.check_pools(processor)
        self.check_varying(processor)


class VariantsTest(unittest.TestCase):
    """Kernels of integers for a target, on such a processor and on others."""

    def check(self, processor, targets):
        root = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        for target in targets:
            for model in INTEGERS:
                with self.subTest(model=model.stem, target=target):
                    folder = root / f"{model.stem}-{target}"
                    folder.mkdir()
                    record = model.with_suffix(".q.json")
                    words = ("--quantize", record) if record.exists() else ()
                    Built(folder, "net", [("forward", model)], processor,
                          (*words, "--int8", "integer", "--target", target)).selftest()

    def test_cortex_m4(self):
        self.check(CORTEX_M4, ("cortex-m4", "generic"))

    def test_cortex_m7(self):
        self.check(CORTEX_M7, ("cortex-m4",))

    def test_cortex_m55(self):
        self.check(CORTEX_M55, ("cortex-m55", "cortex-m4"))

    def test_arm64(self):
        self.check(ARM64, ("arm64", "cortex-m4"))

    def test_arm64_with_dot_products(self):
        self.check(dataclasses.replace(ARM64, flags=("-march=armv8.2-a+dotprod",)), ("arm64",))

    def test_riscv64(self):
        self.check(RISCV64, ("rv32",))

    def test_riscv32(self):
        self.check(RISCV32, ("rv32", "generic"))

    def test_clang(self):
        self.check(CLANG, ("x86-64", "cortex-m4"))


if __name__ == "__main__":
    unittest.main()
