# SPDX-License-Identifier: Apache-2.0
"""`--int8 integer`: programs without floats between their borders, near eager PyTorch."""

import json
import math
import pathlib
import unittest

import npy_file
from quantize_case import DIGITS, QuantizeCase

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()
INTEGER = pathlib.Path("test/quantized/integer").absolute()
FLOATS = pathlib.Path("test/quantized/floats").absolute()
FLOAT_MODELS = ("encoder", "both", "unet", "stream", "groups", "padded", "larger")
MODELS = [PROGRAMS / name for name in ("rows", "mixed", "image_channel", "image_tensor")]
MODELS += [INTEGER / name for name in ("keywords", "autoencoder", "many")]


def decibels(wanted, made):
    """Signal to noise."""
    noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
    return 10 * math.log10(sum(a * a for a in wanted) / max(noise, 1e-30))


class Int8IntegerTest(QuantizeCase):
    def output(self, program, array, *words):
        self.done("run", program, "--input", array, "--output-dir", "out", *words)
        return npy_file.read_elements(self.folder / "out" / "output_0.npy")

    def test_programs_of_pytorch_are_within_one_quantum(self):
        for model in MODELS:
            with self.subTest(model.name):
                words = ("export", model.with_suffix(".pt2"), "--int8", "integer", "-o")
                self.done(*words, "floats.pte")
                self.done(*words, "levels.pte", "--io-dtype", "int8")
                said = self.done("inspect", "levels.pte")
                self.assertIn("petrel::int8_", said)
                self.assertNotIn("quantized_decomposed", said)
                self.assertNotIn("float32[", said)
                methods = json.loads(self.done("inspect", "levels.pte", "--json"))["methods"]
                forward, = [method for method in methods if method["name"] == "forward"]
                quantum = forward["levels"][1]["scale"]
                array = model.with_suffix(".input.npy")
                made = self.output("floats.pte", array)
                self.assertEqual(self.output("levels.pte", array, "--floats"), made)
                wanted = npy_file.read_elements(model.with_suffix(".output.npy"))
                self.assertEqual(len(made), len(wanted))
                far = max(abs(a - b) for a, b in zip(made, wanted))
                self.assertLessEqual(far, 1.001 * quantum)

    def test_one_record_serves_backends_and_integers(self):
        for name in FLOAT_MODELS:
            with self.subTest(name):
                model = FLOATS / f"{name}.pt2"
                self.done("quantize", model, "--calibrate", FLOATS / f"{name}.samples.npy", "-o",
                          "backends.pte", "--record", "q.json")
                self.done("export", model, "--quantize", "q.json", "--int8", "integer", "-o",
                          "i.pte")
                self.done("run", "i.pte", "--input", FLOATS / f"{name}.input.npy",
                          "--output-dir", "out")
                for wanted in sorted(FLOATS.glob(f"{name}.output_*.npy")):
                    made = self.folder / "out" / wanted.name[len(name) + 1:]
                    self.assertGreater(decibels(npy_file.read_elements(wanted),
                                                npy_file.read_elements(made)), 20)

    def test_state_is_kept_in_levels(self):
        model = FLOATS / "stream.pt2"
        self.done("quantize", model, "--calibrate", FLOATS / "stream.samples.npy", "-o", "i.pte",
                  "--int8", "integer", "--io-dtype", "int8")
        self.assertNotIn("float32[", self.done("inspect", "i.pte"))

    def test_a_record_of_either_backend_is_replayed(self):
        self.samples("half.npy", [pixels for pixels, _ in self.images[::2]])
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                self.done("quantize", DIGITS, "--calibrate", "half.npy", "--backend", backend,
                          "-o", "f.pte", "--record", "q.json")
                self.done("export", DIGITS, "--quantize", "q.json", "--int8", "integer", "-o",
                          "i.pte", "--backend", backend)
                right = 0
                for pixels, digit in self.images[1::12]:
                    self.samples("x.npy", [pixels], shape=(1, 8, 8))
                    scores = list(self.output("i.pte", "x.npy"))
                    right += scores.index(max(scores)) == digit
                self.assertGreater(right, 0.9 * len(self.images[1::12]))

    def test_what_cannot_be_integers_is_named(self):
        said = self.refuses(1, "export", DIGITS, "--int8", "integer", "-o", "a.pte")
        self.assertIn("int8 integer: 10 places compute with floats", said)
        for node in ("'conv2d' (aten.convolution.default)", "'linear' (aten.linear.default)"):
            self.assertIn(node, said)
        said = self.refuses(1, "export", PROGRAMS / "rows_8bit.pt2", "--int8", "integer", "-o",
                            "a.pte")
        self.assertIn("'dequantize_affine' (torchao.dequantize_affine.default) at test/quantized", said)
        said = self.refuses(1, "export", PROGRAMS / "rows.pt2", "--int8", "integer", "-o", "a.pte",
                            "--weight-keys", "name")
        self.assertIn("do not go with weights by name", said)


if __name__ == "__main__":
    unittest.main()
