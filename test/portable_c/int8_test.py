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
from command import PETREL, done

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
DIGIT = pathlib.Path("examples/quickstart/digit.npy").absolute()
NETWORKS = pathlib.Path("test/quantized/floats").absolute()
MODELS = [PROGRAMS / name for name in ("rows", "mixed", "image_channel", "image_tensor")]
MODELS += [INTEGER / name for name in ("keywords", "autoencoder", "many")]
FLOATS = re.compile(r"\b(float|double)\b|\d\.\d|math\.h")


class Int8Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))

    def agree(self, model, array, words):
        made = package.Package(self.folder, "net", [("forward", model)], words)
        done([PETREL, "export", model, "-o", "i.pte", "--backend", "none", *words], self.folder)
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
        if platform.machine() in ("x86_64", "aarch64"):
            # The compiler refuses what needs a register of floats.
            done(["gcc", "-std=c99", "-O2", "-mgeneral-regs-only", f"-I{c}", "-c", c / "net.c",
                  "-o", "general.o"], self.folder)

    def test_floats_at_the_border(self):
        for model in MODELS:
            with self.subTest(model.name):
                self.agree(model.with_suffix(".pt2"), model.with_suffix(".input.npy"),
                           ("--int8", "integer"))

    def test_no_float_at_all(self):
        words = ("--int8", "integer", "--io-dtype", "int8")
        for model in MODELS:
            with self.subTest(model.name):
                archive = model.with_suffix(".pt2")
                made = package.Package(self.folder, "net", [("forward", archive)], words)
                tensor, = made.manifest["methods"][0]["inputs"]
                self.assertEqual(tensor["dtype"], "i8")
                levels = self.levels_of(model.with_suffix(".input.npy"), tensor)
                self.check_no_floats(self.agree(archive, levels, words))

    def test_float_networks_with_a_record(self):
        for name in ("encoder", "both", "unet", "stream", "groups"):
            with self.subTest(name):
                model = NETWORKS / f"{name}.pt2"
                words = ("--quantize", model.with_suffix(".q.json"), "--int8", "integer", "--io-dtype", "int8")
                made = package.Package(self.folder, "net", [("forward", model)], words)
                tensor, = made.manifest["methods"][0]["inputs"]
                levels = self.levels_of(NETWORKS / f"{name}.input.npy", tensor)
                self.check_no_floats(self.agree(model, levels, words))

    def test_the_header_tells_what_integers_stand_for(self):
        made = package.Package(self.folder, "net", [("forward", PROGRAMS / "rows.pt2")],
                               ("--int8", "integer", "--io-dtype", "int8"))
        tensor, = made.manifest["methods"][0]["inputs"]
        header = (self.folder / "c" / "net.h").read_text()
        self.assertIn(f"#define NET_INPUT_X_SCALE {tensor['scale']}", header)
        self.assertIn(f"#define NET_INPUT_X_ZERO_POINT ({tensor['zero_point']})", header)

    def test_a_record_makes_integers(self):
        record = self.folder / "q.json"
        done([PETREL, "quantize", DIGITS, "--calibrate", DIGIT, "-o", "q.pte", "--record", record],
             self.folder)
        words = ("--quantize", record, "--int8", "integer", "--io-dtype", "int8")
        made = package.Package(self.folder, "net", [("forward", DIGITS)], words)
        tensor, = made.manifest["methods"][0]["inputs"]
        self.check_no_floats(self.agree(DIGITS, self.levels_of(DIGIT, tensor), words))


if __name__ == "__main__":
    unittest.main()
