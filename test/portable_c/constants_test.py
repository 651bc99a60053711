# SPDX-License-Identifier: Apache-2.0
"""Parameters as bytes that an assembler includes: the symbols, sections and results that text
gives, for the compilers and build fragments that take them."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

import npy_file
import package
from command import ONE_LEVEL, PETREL, done

LAYERS = pathlib.Path("test/models/layers").absolute()
PORTABLE = pathlib.Path("test/models/portable").absolute()
STATE = pathlib.Path("test/models/state").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()

INCBIN = ("--constants", "incbin")

APP = """#include "kws.h"
#include <stdio.h>
int32_t kws_selftest(struct kws_context *context);
int main(void) {
  struct kws_context context;
  const struct kws_pools pools = kws_static_pools();
  if (kws_init(&context, &pools) != KWS_OK) return 1;
  return kws_selftest(&context) == KWS_OK ? 0 : 2;
}
"""

CMAKE = """cmake_minimum_required(VERSION 3.13)
project(app C)
include(c/kws.cmake)
add_executable(app app.c c/kws_selftest.c)
target_link_libraries(app PRIVATE kws_model)
"""


def enlarged(archive, to, small, large, weight):
    """A copy whose dims of `small` elements have `large`, with other bytes for its one weight."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(".json"):
                data = re.sub(rb'("as_int": ?)%d\b' % small, rb"\g<1>%d" % large, data)
            elif "/weights/" in name:
                data = weight
            new.writestr(name, data)


def flipped(archive, to):
    """A copy with one bit of its largest file, a weight, changed."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as new:
        weight = max((i for i in old.infolist() if "/weights/" in i.filename and
                      not i.filename.endswith(".json")), key=lambda i: i.file_size).filename
        for name in old.namelist():
            data = bytearray(old.read(name))
            if name == weight:
                data[2] ^= 0x40
            new.writestr(name, bytes(data))


class ConstantsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def make(self, *more, model=DIGITS, folder=None):
        return package.Package(folder or self.folder, "kws", [("forward", model)], words=more,
                               more=package.UNOPTIMISED)

    def symbols(self, folder):
        listed = done(["nm", "--size-sort", "-S", "kws_params.o"], folder)
        return {name: int(size, 16)
                for size, name in re.findall(r"\w+ (\w+) R (kws_(?:param|initial)_\w+)", listed)}

    def test_results_symbols_and_lookup_are_those_of_text(self):
        for name in ("digits", "lstm", "embedding", "writes", "conv_same"):
            model = DIGITS if name == "digits" else LAYERS / f"{name}.pt2"
            files = [DIGIT] if name == "digits" else sorted(LAYERS.glob(f"{name}.input_*.npy"))
            inputs = [npy_file.read(f).data for f in files]
            with self.subTest(model=name):
                text, binary = self.folder / name / "text", self.folder / name / "binary"
                text.mkdir(parents=True)
                binary.mkdir()
                expected = self.make("--constants", "text", model=model, folder=text)
                built = self.make(*INCBIN, model=model, folder=binary)
                self.assertEqual(built.run("forward", inputs), expected.run("forward", inputs))
                built.selftest()
                self.assertEqual(self.symbols(binary), self.symbols(text))
                self.assertFalse((binary / "c/kws_params.c").exists())
                self.check_file(built)

    def check_file(self, built):
        """The manifest says where each parameter lies in the file."""
        data = (built.folder / "c/kws_params.bin").read_bytes()
        self.assertEqual(built.manifest["constants"], "incbin")
        for row in built.manifest["parameters"]:
            at = row["file_offset"]
            self.assertEqual(at % 16, 0)
            self.assertEqual(hashlib.sha256(data[at:at + row["bytes"]]).hexdigest(), row["sha256"])

    def test_object_has_aligned_data_and_no_executable_stack(self):
        built = self.make(*INCBIN)
        for address in re.findall(r"^(\w+) R kws_param", done(["nm", "kws_params.o"], self.folder),
                                  re.MULTILINE):
            self.assertEqual(int(address, 16) % 16, 0)
        listed = done(["readelf", "-sW", "kws_params.o"], self.folder)
        self.assertRegex(listed, r"OBJECT +GLOBAL HIDDEN +\d+ kws_param_")
        sections = done(["readelf", "-SW", "kws_params.o"], self.folder)
        self.assertRegex(sections, r"\.rodata\.kws_params +PROGBITS +\w+ \w+ \w+ \w+ +A +")
        self.assertRegex(done(["readelf", "-lW", built.program("app")], self.folder), r"GNU_STACK .* RW +0x")

    def test_state_begins_with_its_bytes(self):
        ones = struct.pack("<4f", 1, 1, 1, 1)
        counter = package.Package(self.folder, "counter",
                                  [(m, STATE / f"counter.{m}.pt2") for m in ("add", "read")],
                                  words=INCBIN, more=package.UNOPTIMISED)
        first, _, again = counter.calls([("add", [ones]), ("reset", []), ("add", [ones])])
        self.assertEqual(struct.unpack("<4f", first[0]), (2, 3, 4, 5))
        self.assertEqual(again, first)
        counter.selftest()

    def test_more_than_a_mebibyte_is_bytes_unless_text_is_asked_for(self):
        model, count = self.folder / "large.pt2", 263_000
        numbers = [struct.pack(f"<{count}f", *(float(i % period) for i in range(count)))
                   for period in (5, 7, 11)]
        enlarged(PORTABLE / "words.pt2", model, 3, count, numbers[0])
        # linux * default + typeof, which floats hold exactly
        expected = struct.pack(f"<{count}f", *(float(i % 7 * (i % 5) + i % 11)
                                               for i in range(count)))
        for words, form in (((), "incbin"), (("--constants", "text"), "text")):
            folder = self.folder / form
            folder.mkdir()
            built = self.make(*words, model=model, folder=folder)
            self.assertEqual(built.manifest["constants"], form)
            self.assertGreater(built.manifest["constant_bytes"], 1 << 20)
            self.assertEqual(built.run("forward", numbers[1:]), [expected])
        self.assertEqual(self.symbols(self.folder / "incbin"), self.symbols(self.folder / "text"))
        small = self.folder / "small"
        small.mkdir()
        self.assertEqual(self.make(folder=small).manifest["constants"], "text")

    def test_parameters_lie_in_their_pools(self):
        built = self.make(*INCBIN, "--pool", "name=itcm,kind=ro,prefer=1K,section=.itcm", "--pool",
                          "name=flash,kind=ro,section=.flash-1$x,align=64", "--link-param",
                          "*bias*=itcm", "--link-param", "*=flash")
        sections = {symbol: section for section, symbol in re.findall(
            r"^\w+ g +O (\S+)\t\w+ \.hidden (kws_param_\w+)$",
            done(["objdump", "-t", "kws_params.o"], self.folder), re.MULTILINE)}
        place = {"itcm": ".itcm", "flash": ".flash-1$x"}
        self.assertEqual(sections, {r["symbol"]: place[r["pool"]]
                                    for r in built.manifest["parameters"]})
        built.selftest()

    def test_fragments_link_what_lies_at_its_address(self):
        built = self.make(*INCBIN, "--pool", "sram=64K", "--pool",
                          "name=flash,kind=ro,address=0x20000000,align=32", "--link-param",
                          "*=flash")
        self.assertIn("kws_params.S", built.manifest["sources"])
        (self.folder / "app.c").write_text(APP)
        (self.folder / "Makefile").write_text(
            "KWS_DIR = c\ninclude c/kws.mk\nmade: app.c $(KWS_OBJECTS) c/kws_selftest.o\n"
            "\t$(CC) $(KWS_CFLAGS) -no-pie $^ $(KWS_LDFLAGS) -lm -o $@\n")
        done(["make", "made"], self.folder)
        programs = ["made"]
        if shutil.which("cmake"):
            (self.folder / "CMakeLists.txt").write_text(CMAKE)
            done(["cmake", "-DCMAKE_EXE_LINKER_FLAGS=-no-pie", "-S", ".", "-B", "b"], self.folder)
            done(["cmake", "--build", "b", "--target", "app", "kws_selftest"], self.folder)
            done(["b/kws_selftest"], self.folder)
            programs.append("b/app")
        for program in programs:
            done([f"./{program}"], self.folder)
            at = [int(a, 16) for a in re.findall(r"(\w+) [rR] kws_param_\w+",
                                                 done(["nm", program], self.folder))]
            self.assertEqual(min(at), 0x20000000)
            self.assertTrue(all(a % 32 == 0 for a in at))
        (self.folder / "c/kws_params.o").unlink()
        (self.folder / "c/kws_params.bin").touch()
        self.assertIn("kws_params.o", done(["make", "-n", "made"], self.folder))

    def test_library_and_object_have_them(self):
        for form, file in (("so", "libkws.so"), ("obj", "kws.o")):
            done([*ONE_LEVEL, PETREL, "gen-c", DIGITS, "-o", form, "--name", "kws", *INCBIN,
                  "--compile", form], self.folder)
            self.assertTrue((self.folder / form / file).exists())
        listed = done(["nm", "-D", "--defined-only", "so/libkws.so"], self.folder)
        self.assertRegex(listed, r"\A[0-9a-f]+ T petrel_compiled_model\n\Z")
        done([PETREL, "export", DIGITS, "-o", "d.pte", "--backend", "none"], self.folder)
        words = ["--input", DIGIT]
        self.assertEqual(
            done([PETREL, "run", "--compiled", "so/libkws.so", *words], self.folder),
            done([PETREL, "run", "d.pte", "--kernels", "reference", *words], self.folder))

    def test_equal_words_give_equal_files_and_one_bit_another_digest(self):
        flipped(DIGITS, self.folder / "flipped.pt2")
        for folder, model in (("a", DIGITS), ("b", DIGITS), ("c", self.folder / "flipped.pt2")):
            done([PETREL, "gen-c", model, "-o", folder, "--name", "kws", *INCBIN], self.folder)
        for file in (self.folder / "a").iterdir():
            self.assertEqual(file.read_bytes(), (self.folder / "b" / file.name).read_bytes())
        digests = {json.loads((self.folder / f / "manifest.json").read_text())["sha256"]
                   for f in "abc"}
        self.assertEqual(len(digests), 2)

    @unittest.skipUnless(shutil.which("clang"), "clang assembles for all of these")
    def test_assemblers_of_other_machines_take_it(self):
        built = self.make(*INCBIN)
        expected = {r["symbol"]: r["bytes"] for r in built.manifest["parameters"]}
        for target in ("x86_64-linux-gnu", "aarch64-linux-gnu", "arm-none-eabi",
                       "riscv32-unknown-elf", "riscv64-linux-gnu"):
            done(["clang", f"--target={target}", "-Ic", "-c", "c/kws_params.S", "-o", "x.o"],
                 self.folder)
            listed = done(["readelf", "-sW", "x.o"], self.folder)
            self.assertEqual({name: int(size) for size, name in re.findall(
                r" (\d+) OBJECT +GLOBAL HIDDEN +\d+ (\w+)", listed)}, expected, target)
        for target, message in (("armeb-none-eabi", "kws_params.bin is little-endian"),
                                ("x86_64-apple-macos11", "these are sections of ELF")):
            result = subprocess.run(["clang", f"--target={target}", "-Ic", "-c", "c/kws_params.S",
                                     "-o", "x.o"], cwd=self.folder, stderr=subprocess.PIPE,
                                    text=True)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(message, result.stderr)

    def test_other_words_are_refused(self):
        result = subprocess.run([PETREL, "gen-c", DIGITS, "-o", "no", "--constants", "base64"],
                                cwd=self.folder, text=True, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)
        self.assertIn("base64", result.stderr)
        self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
