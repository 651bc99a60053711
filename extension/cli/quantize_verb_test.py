# SPDX-License-Identifier: Apache-2.0
"""`petrel quantize`: float archives into programs of int8, with samples and no torch."""

import json
import math
import pathlib
import platform
import unittest
import zipfile

import npy_file
from quantize_case import DIGITS, LAYERS, PIXELS, QuantizeCase

STATE = pathlib.Path("test/models/state").absolute()


class QuantizeVerbTest(QuantizeCase):
    def test_digits_lose_at_most_one_image(self):
        # Calibrated with half of the images, tried with all.
        self.samples("half.npy", [pixels for pixels, _ in self.images[::2]])
        self.done("export", DIGITS, "-o", "floats.pte")
        floats = self.right("floats.pte")
        size = (self.folder / "floats.pte").stat().st_size
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                report = self.done("quantize", DIGITS, "--calibrate", "half.npy", "-o", "int8.pte",
                                   "--backend", backend)
                self.assertIn("method 'forward': 180 samples, 0 nodes stay float", report)
                self.assertGreater(float(report.split("noise ")[1].split(" dB")[0]), 35)
                self.assertIn(" on 32 of the samples\n", report)
                self.assertGreaterEqual(self.right("int8.pte"), floats - 1)
                self.assertLess((self.folder / "int8.pte").stat().st_size, 0.4 * size)

    def test_noise_is_of_all_samples_where_somebody_looks_closer(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:40]])
        quantize = ("quantize", DIGITS, "--calibrate", "x.npy", "-o", "a.pte")
        self.assertIn(" on 32 of the samples\n", self.done(*quantize))
        for more in (("--report", "r.json"), ("--min-sqnr", "20")):
            self.assertNotIn("of the samples", self.done(*quantize, *more))
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["methods"]["forward"]["samples"], 40)

    def test_dynamic_schemes_need_no_samples(self):
        for fixture in ("encoder", "decoder", "attention"):
            for backend in ("xnnpack", "none"):
                with self.subTest(fixture=fixture, backend=backend):
                    model = LAYERS / f"{fixture}.pt2"
                    report = self.done("quantize", model, "--scheme", "dynamic-int8", "-o",
                                       "a.pte", "--record", "q.json", "--backend", backend)
                    self.assertEqual(report, "method 'forward': 0 nodes stay float\n")
                    noise = self.noise_of_eager("a.pte", fixture)
                    self.assertGreater(noise, 40)
                    self.assertLess(noise, 80)  # 8 bits have been there
                    self.done("export", model, "--quantize", "q.json", "-o", "b.pte", "--backend",
                              backend)
                    self.assertEqual((self.folder / "a.pte").read_bytes(),
                                     (self.folder / "b.pte").read_bytes())

    def test_digits_in_4_bits(self):
        self.done("export", DIGITS, "-o", "floats.pte")
        floats = self.right("floats.pte")
        size = (self.folder / "floats.pte").stat().st_size
        self.samples("x.npy", [pixels for pixels, _ in self.images[:8]])
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                report = self.done("quantize", DIGITS, "--scheme", "dynamic-int4", "-o", "int4.pte",
                                   "--calibrate", "x.npy", "--backend", backend)
                self.assertIn("conv2d and 1 more (aten.convolution.default): is a convolution", report)
                self.assertGreater(float(report.split("noise ")[1].split(" dB")[0]), 20)
                self.assertGreaterEqual(self.right("int4.pte"), floats - 2)
                self.assertLess((self.folder / "int4.pte").stat().st_size, size)

    def test_schemes_that_do_not_fit_are_told(self):
        encoder = LAYERS / "encoder.pt2"
        said = self.refuses(1, "quantize", encoder, "--scheme", "dynamic-int4", "-o", "a.pte")
        self.assertIn("elements, no multiple of 32", said)
        self.assertIn("linear (aten.linear.default)", said)
        said = self.refuses(2, "quantize", DIGITS, "--scheme", "dynamic-int4", "--group", "48", "-o",
                            "a.pte")
        self.assertIn("--group is 48, must be a multiple of 32", said)
        self.assertIn("--calibrate is required", self.refuses(2, "quantize", DIGITS, "-o", "a.pte"))
        said = self.refuses(1, "quantize", DIGITS, "--scheme", "dynamic-int8", "--keep-float",
                            "conv*", "-o", "a.pte")
        self.assertIn("no node that computes with integers is called 'conv*'", said)

    def test_a_record_makes_the_same_program(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:8]])
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "a.pte", "--record",
                          "q.json", "--backend", backend)
                self.done("export", DIGITS, "--quantize", "q.json", "-o", "b.pte", "--backend",
                          backend)
                self.assertEqual((self.folder / "a.pte").read_bytes(),
                                 (self.folder / "b.pte").read_bytes())
        values = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]["values"]
        self.assertEqual(values["image"]["max"], 1)

    def test_weights_go_where_they_are_sent(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:8]])
        report = self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "a.pte",
                           "--external-weights", "a.ptd")
        self.assertIn("signal to noise", report)
        self.assertGreater((self.folder / "a.ptd").stat().st_size, 20000)

    def test_samples_come_by_name_place_or_one_by_one(self):
        pixels = [pixels for pixels, _ in self.images[:4]]
        self.samples("stack.npy", pixels)
        one = [npy_file.written("<f4", (1, 1, 8, 8), row) for row in pixels]
        for i, content in enumerate(one):
            (self.folder / f"one{i}.npy").write_bytes(content)
        stack = (self.folder / "stack.npy").read_bytes()
        self.archive("named.npz", {"image": stack})
        self.archive("placed.npz", {"arr_0": stack})
        made = []
        for files in (["stack.npy"], ["named.npz"], ["placed.npz"],
                      [f"one{i}.npy" for i in range(4)], ["forward=stack.npy"]):
            words = [w for file in files for w in ("--calibrate", file)]
            self.done("quantize", DIGITS, *words, "-o", "m.pte")
            made.append((self.folder / "m.pte").read_bytes())
        self.assertEqual(len(set(made)), 1)

    def test_nodes_stay_float_by_name(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:4]])
        report = self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte",
                           "--keep-float", "conv2d*", "--record", "q.json")
        self.assertIn("conv2d_2 (aten.convolution.default): is kept float", report)
        kept = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]["keep_float"]
        self.assertEqual(kept, ["conv2d", "conv2d_1", "conv2d_2"])
        self.done("export", DIGITS, "--quantize", "q.json", "-o", "n.pte")
        self.assertEqual((self.folder / "m.pte").read_bytes(), (self.folder / "n.pte").read_bytes())

    @unittest.skipIf(platform.machine() != "x86_64", "of a level of x86")
    def test_a_program_that_does_not_run_is_named_as_it_was_asked_for(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:2]])
        said = self.refuses(1, "quantize", DIGITS, "--scheme", "dynamic-int4", "--calibrate",
                            "x.npy", "-o", "int4.pte", "--isa", "sse2")
        self.assertIn("weights of 4 bits in groups need AVX2, level is sse2", said)
        self.assertIn("int4.pte: method 'forward' cannot be loaded: NotSupported", said)
        self.assertNotIn("int4.pte.", said)

    def test_layers_between_products_may_be_float(self):
        # Attention, recurrent cells and gates; samples of noise.
        for model, shape in (("gated", None), ("encoder", None), ("lstm", None), ("rnn", None)):
            with self.subTest(model):
                self.done("export", LAYERS / f"{model}.pt2", "--backend", "none", "-o", "f.pte")
                text = self.done("inspect", "f.pte", "--json")
                method = json.loads(text)["methods"][0]
                arrays = {}
                for i, value in enumerate(method["inputs"]):
                    sizes = method["values"][value].split("[")[1].split("]")[0]
                    shape = [int(s) for s in sizes.split(",")]
                    count = 4 * math.prod(shape)
                    noise = [math.sin(1.7 * k * k + i) for k in range(count)]
                    arrays[f"arr_{i}"] = npy_file.written("<f4", (4, *shape), noise)
                self.archive("x.npz", arrays)
                report = self.done("quantize", LAYERS / f"{model}.pt2", "--calibrate", "x.npz",
                                   "-o", "m.pte")
                noise = [float(line.split("noise ")[1].split(" dB")[0])
                         for line in report.splitlines() if "signal to noise" in line]
                self.assertTrue(noise, report)
                self.assertGreater(min(noise), 28, report)

    def test_state_begins_anew_whenever_samples_are_run(self):
        # A key-value cache that prefill fills and decode reads.
        prompt = (STATE / "decoder.prompt.npy").read_bytes()
        (self.folder / "prompt.npy").write_bytes(prompt)
        tokens = npy_file.read_elements(STATE / "decoder.tokens.npy")
        count = 6
        self.archive("steps.npz", {
            "arr_0": npy_file.written("<i8", (count, 1, 1), tokens[:count]),
            "arr_1": npy_file.written("<i8", (count, 1), range(8, 8 + count))})
        for ranges in ("min-max", "least-error", "by-outputs"):
            with self.subTest(ranges):
                report = self.done(
                    "quantize", "--method", f"prefill={STATE / 'decoder.prefill.pt2'}", "--method",
                    f"decode={STATE / 'decoder.decode.pt2'}", "--calibrate", "prefill=prompt.npy",
                    "--calibrate", "decode=steps.npz", "-o", "m.pte", "--ranges", ranges)
                noise = [float(line.split("noise ")[1].split(" dB")[0])
                         for line in report.splitlines() if "signal to noise" in line]
                self.assertEqual(len(noise), 2, report)
                self.assertGreater(min(noise), 15, report)

    def test_bad_samples_are_refused_by_name(self):
        good = [pixels for pixels, _ in self.images[:2]]
        quantize = ["quantize", DIGITS, "-o", "m.pte", "--record", "q.json", "--calibrate"]
        self.samples("nan.npy", [good[0], [math.nan] * PIXELS])
        self.assertIn("nan.npy: sample 1: value 'image', which needs a scale: element 0 is nan",
                      self.refuses(1, *quantize, "nan.npy"))
        self.samples("infinite.npy", [[math.inf] * PIXELS])
        self.assertIn("element 0 is inf", self.refuses(1, *quantize, "infinite.npy"))
        for number in ("0", "1e-39"):
            self.samples("dark.npy", [[float(number)] * PIXELS] * 3)
            self.assertIn(f"method 'forward': input 'image', which needs a scale, lies from "
                          f"{number} to {number} in all samples",
                          self.refuses(1, *quantize, "dark.npy"))
        self.samples("even.npy", [[0.5] * PIXELS] * 3)
        self.done("quantize", DIGITS, "-o", "even.pte", "--calibrate", "even.npy")
        self.samples("flat.npy", good, shape=(64,))
        self.assertIn("has shape [2,64], the input takes [1,1,8,8]",
                      self.refuses(1, *quantize, "flat.npy"))
        self.samples("wide.npy", good, dtype="<f8")
        self.assertIn("has dtype float64, the input takes float32",
                      self.refuses(1, *quantize, "wide.npy"))
        self.samples("none.npy", [])
        self.assertIn("hold no samples", self.refuses(1, *quantize, "none.npy"))
        stack = npy_file.written("<f4", (2, 1, 1, 8, 8), good[0] + good[1])
        self.archive("other.npz", {"picture": stack})
        self.assertIn("has no array 'image' or 'arr_0'", self.refuses(1, *quantize, "other.npz"))
        self.archive("more.npz", {"image": stack, "label": stack})
        self.assertIn("array 'label' is of no input", self.refuses(1, *quantize, "more.npz"))
        self.archive("packed.npz", {"image": stack}, method=zipfile.ZIP_DEFLATED)
        self.assertIn("instead of numpy.savez_compressed", self.refuses(1, *quantize, "packed.npz"))
        (self.folder / "cut.npz").write_bytes((self.folder / "more.npz").read_bytes()[:-30])
        self.assertIn("cut.npz: ", self.refuses(1, *quantize, "cut.npz"))
        self.assertIn("gone.npy", self.refuses(1, *quantize, "gone.npy"))

    def test_images_side_by_side_are_as_many_samples(self):
        pixels = [pixels for pixels, _ in self.images[:5]]
        self.samples("stack.npy", pixels)
        self.samples("images.npy", pixels, shape=(1, 8, 8))
        quantize = ["quantize", DIGITS, "--calibrate"]
        told = self.done(*quantize, "stack.npy", "-o", "stack.pte", "--record", "stack.json")
        self.assertIn("5 samples", told)
        self.assertEqual(told, self.done(*quantize, "images.npy", "-o", "images.pte", "--record",
                                         "images.json"))
        for ending in ("pte", "json"):
            self.assertEqual((self.folder / f"stack.{ending}").read_bytes(),
                             (self.folder / f"images.{ending}").read_bytes())
        self.samples("narrow.npy", pixels, shape=(1, 1, 16, 4))
        self.assertIn("has shape [5,1,1,16,4], the input takes [1,1,8,8]",
                      self.refuses(1, *quantize, "narrow.npy", "-o", "m.pte"))

    def test_no_file_that_is_read_is_written(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:2]])
        (self.folder / "m.pt2").write_bytes(DIGITS.read_bytes())
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        quantize = ["quantize", "m.pt2", "--calibrate", "x.npy"]
        for words, said in ((["-o", "x.npy"], "output 'x.npy' is a file that is read"),
                            (["-o", "./m.pt2"], "is the input of method 'forward'"),
                            (["-o", "o.pte", "--record", "m.pt2"],
                             "output 'm.pt2' is the input of method 'forward'"),
                            (["-o", "o.pte", "--record", "./o.pte"],
                             "the record would be written to 'o.pte', as another file"),
                            (["-o", "o.pte", "--external-weights", "x.npy"],
                             "output 'x.npy' is a file that is read")):
            self.assertIn(said, self.refuses(1, *quantize, *words))
        (self.folder / "q.json").write_text("{}")
        before["q.json"] = b"{}"
        for words in (["-o", "q.json"], ["-o", "o.pte", "--external-weights", "./q.json"]):
            self.assertIn("is a file that is read",
                          self.refuses(1, "export", "m.pt2", "--quantize", "q.json", *words))
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)

    def test_programs_remember_the_record_itself(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:2]])
        self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", "--weight-keys",
                  "name", "--external-weights", "m.ptd", "--record", "q.json")
        # No path is stored: nobody's file is read because a program says so.
        self.assertNotIn(b"q.json", (self.folder / "m.pte").read_bytes())
        (self.folder / "q.json").unlink()
        self.done("data", "build", "--from", DIGITS, "--for", "m.pte", "-o", "again.ptd")
        self.assertEqual(self.done("data", "list", "again.ptd"), self.done("data", "list", "m.ptd"))
        self.assertEqual(self.done("run", "m.pte", "--data", "again.ptd"),
                         self.done("run", "m.pte", "--data", "m.ptd"))

    def test_samples_of_nothing_are_refused(self):
        header = (b"{'descr': '<f4', 'fortran_order': False, "
                  b"'shape': (1152921504606846976, 1, 1, 0, 8), }")
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        (self.folder / "x.npy").write_bytes(
            b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        said = self.refuses(1, "quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte")
        self.assertIn("its samples have no elements", said)

    def test_bad_words_and_records_are_refused_by_name(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:2]])
        quantize = ["quantize", DIGITS, "-o", "m.pte", "--calibrate", "x.npy"]
        self.assertIn("no node that computes with integers is called 'nothing*'",
                      self.refuses(1, *quantize, "--keep-float", "nothing*"))
        self.assertIn("gone/q.json", self.refuses(1, *quantize, "--record", "gone/q.json"))
        self.assertIn("--ranges is 'percentile=101', its percentage must be a number from 50 to 100",
                      self.refuses(2, *quantize, "--ranges", "percentile=101"))
        self.assertIn("--ranges is 'widest', must be by-outputs, min-max, least-error, percentile",
                      self.refuses(2, *quantize, "--ranges", "widest"))
        self.assertIn("--ranges is 'percentile=0x60', its percentage must be a number from 50",
                      self.refuses(2, *quantize, "--ranges", "percentile=0x60"))
        self.assertIn("--quantize is for petrel export",
                      self.refuses(2, *quantize, "--quantize", "q.json"))
        for option in ("--calibrate", "--keep-float"):
            self.assertIn(f"{option} takes all words behind it, also '{DIGITS}': put the model in",
                          self.refuses(2, "quantize", "-o", "m.pte", option, "x.npy", DIGITS))
        self.assertIn("--calibrate c=x.npy: there are several methods: give METHOD=FILE of a, b",
                      self.refuses(2, "quantize", "--method", f"a={DIGITS}", "--method",
                                   f"b={DIGITS}", "-o", "m.pte", "--calibrate", "c=x.npy"))
        export = ["export", DIGITS, "-o", "m.pte", "--quantize"]
        self.assertIn("gone.json: No such file", self.refuses(1, *export, "gone.json"))
        (self.folder / "bad.json").write_text('{"format": 1}')
        self.assertIn("bad.json: has no \"methods\"", self.refuses(1, *export, "bad.json"))
        (self.folder / "empty.json").write_text(
            '{"format": 1, "methods": {"forward": {"values": {}}}}')
        self.assertIn("the record has no numbers for value", self.refuses(1, *export, "empty.json"))
        (self.folder / "none.json").write_text('{"format": 1, "methods": {}}')
        self.assertIn("the record has no method 'forward'", self.refuses(1, *export, "none.json"))
        said = self.refuses(1, "quantize", LAYERS / "conv3d.pt2", "-o", "m.pte", "--calibrate",
                            LAYERS / "conv3d.input_0.npy")
        self.assertIn("nothing to quantise: no product with a constant weight fits\n", said)
        self.assertIn("(aten.convolution.default): is a convolution of volumes", said)
        # Integers alone compute volumes by images.
        self.done("quantize", LAYERS / "conv3d.pt2", "-o", "m.pte", "--calibrate",
                  LAYERS / "conv3d.input_0.npy", "--int8", "integer")
        self.assertIn("nothing to quantise: no product",
                      self.refuses(1, "quantize", LAYERS / "order.pt2", "-o", "m.pte",
                                   "--calibrate", "x.npy"))


if __name__ == "__main__":
    unittest.main()
