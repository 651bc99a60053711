# SPDX-License-Identifier: Apache-2.0
"""`gen-c --int8 integer`: bit for bit the interpreter, and no float where borders are open."""

import os
import pathlib
import platform
import re
import tempfile
import unittest

import npy_file
import package
from command import PETREL, QUICK_PLAN, done

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
NETWORKS = pathlib.Path("test/quantized/floats").absolute()
MODELS = [PROGRAMS / name for name in ("rows", "mixed", "image_channel", "image_tensor")]
MODELS += [INTEGER / name for name in ("keywords", "autoencoder", "many")]
# With these the compiler refuses what needs a register of floats.
GENERAL = ["-mgeneral-regs-only"] if platform.machine() in ("x86_64", "aarch64") else []
FLOATS = re.compile(r"\b(float|double)\b|\d\.\d|math\.h")


class Int8Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def made(self, model, words, more=()):
        return package.Package(self.folder, "net", [("forward", model)], words, more=more)

    def agree(self, made, model, array, words):
        done([PETREL, "export", model, "-o", "i.pte", "--backend", "none", *QUICK_PLAN, *words],
             self.folder)
        done([PETREL, "run", "i.pte", "--input", array, "--kernels", "reference", "--output-dir",
              "out"], self.folder)
        for i, actual in enumerate(made.run("forward", [npy_file.read(array).data])):
            wanted = npy_file.read(self.folder / "out" / f"output_{i}.npy")
            self.assertEqual(actual, wanted.data)
        made.selftest()
        return made

    def levels_of(self, array, tensor):
        """What the border makes of numbers."""
        numbers = npy_file.read_elements(array)
        levels = [max(-128, min(127, round(x / tensor["scale"]) + tensor["zero_point"]))
                  for x in numbers]
        path = self.folder / "levels.npy"
        path.write_bytes(npy_file.written("|i1", tuple(tensor["shape"]), levels))
        return path

    def check_no_floats(self, made):
        c = self.folder / "c"
        for name in ("net.c", "net_params.c", "net.h"):
            text = re.sub(r"/\*.*?\*/|#define \w+_SCALE .*", "", (c / name).read_text(),
                          flags=re.DOTALL)
            found = [line for line in text.splitlines() if FLOATS.search(line)]
            self.assertEqual(found, [], name)
        if made.more != GENERAL:
            made.compile_to("general.o", "-O0", *GENERAL, "-c", c / "net.c")

    def test_floats_at_the_border(self):
        for model in MODELS:
            with self.subTest(model.name):
                words = ("--int8", "integer")
                archive = model.with_suffix(".pt2")
                self.agree(self.made(archive, words), archive, model.with_suffix(".input.npy"), words)

    def test_no_float_at_all(self):
        words = ("--int8", "integer", "--io-dtype", "int8")
        for model in MODELS:
            with self.subTest(model.name):
                archive = model.with_suffix(".pt2")
                made = self.made(archive, words, GENERAL)
                tensor, = made.manifest["methods"][0]["inputs"]
                self.assertEqual(tensor["dtype"], "i8")
                levels = self.levels_of(model.with_suffix(".input.npy"), tensor)
                self.check_no_floats(self.agree(made, archive, levels, words))

    def test_float_networks_with_a_record(self):
        for name in ("encoder", "both", "unet", "stream", "groups"):
            with self.subTest(name):
                model = NETWORKS / f"{name}.pt2"
                words = ("--quantize", model.with_suffix(".q.json"), "--int8", "integer", "--io-dtype", "int8")
                made = self.made(model, words)
                tensor, = made.manifest["methods"][0]["inputs"]
                levels = self.levels_of(NETWORKS / f"{name}.input.npy", tensor)
                self.check_no_floats(self.agree(made, model, levels, words))

    def test_the_header_tells_what_integers_stand_for(self):
        manifest = package.generate(self.folder, "net", [("forward", PROGRAMS / "rows.pt2")],
                                    ("--int8", "integer", "--io-dtype", "int8"))
        tensor, = manifest["methods"][0]["inputs"]
        header = (self.folder / "c" / "net.h").read_text()
        self.assertIn(f"#define NET_INPUT_X_SCALE {tensor['scale']}", header)
        self.assertIn(f"#define NET_INPUT_X_ZERO_POINT ({tensor['zero_point']})", header)

    def test_a_record_makes_integers(self):
        record = self.folder / "q.json"
        done([PETREL, "quantize", DIGITS, "--calibrate", DIGIT, "-o", "q.pte", "--record", record],
             self.folder)
        words = ("--quantize", record, "--int8", "integer", "--io-dtype", "int8")
        made = self.made(DIGITS, words)
        tensor, = made.manifest["methods"][0]["inputs"]
        self.check_no_floats(self.agree(made, DIGITS, self.levels_of(DIGIT, tensor), words))


if __name__ == "__main__":
    unittest.main()
