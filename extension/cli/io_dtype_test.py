# SPDX-License-Identifier: Apache-2.0
"""`--io-dtype int8`: integers at the border of quantised programs, of both runtimes."""

import json
import pathlib
import struct
import unittest

import npy_file
from quantize_case import DIGITS, QuantizeCase

PROGRAMS = pathlib.Path("test/quantized/programs").absolute()


def nearest_level(number, levels):
    """In doubles, which no sample here lies close enough to the middle of two levels for."""
    level = round(number / levels["scale"]) + levels["zero_point"]
    return max(-128, min(127, level))


class IoDtypeTest(QuantizeCase):
    def levels(self, program):
        """The input's and the output's, as inspect tells them."""
        methods = json.loads(self.done("inspect", program, "--json"))["methods"]
        forward, = [method for method in methods if method["name"] == "forward"]
        self.assertEqual([one["kind"] for one in forward["levels"]], ["input", "output"])
        return forward["levels"]

    def output(self, program, array, *words):
        self.done("run", program, "--input", array, "--output-dir", "out", *words)
        return npy_file.read_elements(self.folder / "out" / "output_0.npy")

    def write(self, name, shape, values, dtype="<f4"):
        (self.folder / name).write_bytes(npy_file.written(dtype, shape, values))

    def test_integers_are_those_of_the_program_with_floats(self):
        self.samples("half.npy", [pixels for pixels, _ in self.images[::2]])
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                words = ("--calibrate", "half.npy", "--backend", backend)
                said = self.done("quantize", DIGITS, *words, "-o", "f.pte", "--record", "q.json")
                # The noise is of the same numbers, and so are record and report.
                self.assertEqual(said, self.done("quantize", DIGITS, *words, "-o", "i.pte",
                                                 "--record", "r.json", "--io-dtype", "int8"))
                self.assertEqual(*((self.folder / name).read_text() for name in ("q.json",
                                                                                 "r.json")))
                report = self.done("export", DIGITS, "--quantize", "q.json", "--io-dtype", "int8",
                                   "-o", "e.pte", "--backend", backend, "--report")
                self.assertRegex(report, "input          0 'image': i8, scale 0.0039")
                self.assertEqual(*((self.folder / name).read_bytes() for name in ("i.pte",
                                                                                  "e.pte")))
                of_input, of_output = self.levels("i.pte")
                for i in range(1, 360, 36):
                    pixels = self.images[i][0]
                    self.write("x.npy", (1, 1, 8, 8), pixels)
                    floats = self.output("f.pte", "x.npy")
                    self.assertEqual(self.output("i.pte", "x.npy", "--floats"), floats)
                    integers = [nearest_level(pixel, of_input) for pixel in pixels]
                    self.write("x.npy", (1, 1, 8, 8), integers, "|i1")
                    self.assertEqual(list(self.output("i.pte", "x.npy")),
                                     [nearest_level(number, of_output) for number in floats])

    def test_programs_of_the_wheel_run_and_say_the_same(self):
        for name in ("image_channel", "rows"):
            with self.subTest(name):
                wheel = PROGRAMS / f"{name}.border.pte"
                of_input, of_output = self.levels(wheel)
                numbers = npy_file.read_elements(PROGRAMS / f"{name}.input.npy")
                shape = {"image_channel": (1, 3, 16, 16), "rows": (3, 32)}[name]
                self.write("x.npy", shape, [nearest_level(x, of_input) for x in numbers], "|i1")
                wanted = npy_file.read_elements(PROGRAMS / f"{name}.border.npy")
                self.assertEqual(self.output(wheel, "x.npy"), wanted)
                self.assertIn(f"input    0  int8, scale {of_input['scale']}",
                              self.done("inspect", wheel))
                for backend in ("xnnpack", "none"):
                    self.done("export", PROGRAMS / f"{name}.pt2", "--io-dtype", "int8", "-o",
                              "ours.pte", "--backend", backend)
                    self.assertEqual(self.levels("ours.pte"), [of_input, of_output])
                    made = self.output("ours.pte", "x.npy")
                    far = max(abs(a - b) for a, b in zip(made, wanted))
                    self.assertLessEqual(far, 0 if backend == "xnnpack" else 1)
                    self.assertEqual(len(made), len(wanted))

    def test_what_cannot_be_is_said(self):
        said = self.refuses(1, "export", DIGITS, "--io-dtype", "int8", "-o", "a.pte")
        self.assertIn("io-dtype int8: no input or output can be integers", said)
        self.assertIn("'conv2d' (aten.convolution.default)", said)
        rows = PROGRAMS / "rows_8bit.pt2"
        said = self.refuses(1, "export", rows, "--io-dtype", "x=int8", "-o", "a.pte")
        self.assertIn("method 'forward': input 0 'x' must stay f32", said)
        for word in ("int16", "=int8"):
            self.assertIn(f"io-dtype is '{word}', must be int8 or GLOB=int8",
                          self.refuses(1, "export", rows, "--io-dtype", word, "-o", "a.pte"))
        self.write("x.npy", (3, 32), [0.5] * 96)
        said = self.refuses(1, "run", PROGRAMS / "rows.border.pte", "--input", "x.npy")
        self.assertRegex(said, "has dtype float32, method 'forward' takes int8 of scale 0.0.* and "
                               "zero point .*; --floats takes numbers")

    def test_one_side_stays_float(self):
        rows = PROGRAMS / "rows.pt2"
        report = self.done("export", rows, "--io-dtype", "output_0=int8", "-o", "a.pte", "--report")
        self.assertIn("'x': stays f32: io-dtype does not name it", report)
        self.assertRegex(report, r"output         0 '\w+': i8, scale")
        self.write("x.npy", (3, 32), npy_file.read_elements(PROGRAMS / "rows.input.npy"))
        self.assertEqual(self.output("a.pte", "x.npy"),
                         npy_file.read_elements(PROGRAMS / "rows.border.npy"))

    def test_damaged_scales_are_refused(self):
        content = (PROGRAMS / "rows.border.pte").read_bytes()
        scale, _ = self.levels(PROGRAMS / "rows.border.pte")
        bits = struct.pack("<d", scale["scale"])
        # That of the input's method; the payload has it as a float.
        self.assertEqual(content.count(bits), 1)
        (self.folder / "bad.pte").write_bytes(content.replace(bits, struct.pack("<d", -0.0)))
        for verb in ("inspect", "verify", "run"):
            said = self.refuses(1, verb, "bad.pte")
            self.assertIn("input0_scale' tells -0, must be a double that is a positive scale", said)


if __name__ == "__main__":
    unittest.main()
