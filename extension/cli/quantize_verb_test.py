# SPDX-License-Identifier: Apache-2.0
"""`petrel quantize`: float archives into programs of int8, with samples and no torch."""

import json
import math
import os
import pathlib
import platform
import subprocess
import tempfile
import unittest
import zipfile
from xml.etree import ElementTree

import npy_file

PETREL = pathlib.Path("extension/cli/petrel").absolute()
DIGITS = pathlib.Path("examples/quickstart/digits.pt2").absolute()
IMAGES = pathlib.Path("examples/quickstart/digits.bin").absolute()
LAYERS = pathlib.Path("test/models/layers").absolute()
LOUD = pathlib.Path("extension/quantize/testdata").absolute()
STATE = pathlib.Path("test/models/state").absolute()

PIXELS = 64


def images():
    """(pixels, digit) of each held-out image."""
    data = IMAGES.read_bytes()
    rows = [data[i:i + PIXELS + 1] for i in range(0, len(data), PIXELS + 1)]
    return [([p / 16 for p in row[:PIXELS]], row[PIXELS]) for row in rows]


class QuantizeVerbTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.images = images()

    def petrel(self, *arguments):
        return subprocess.run([PETREL, *map(str, arguments)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(self, *arguments):
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refuses(self, code, *arguments):
        """What is said; no file is left."""
        before = sorted(self.folder.iterdir())
        result = self.petrel(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return result.stderr

    def samples(self, name, rows, shape=(1, 1, 8, 8), dtype="<f4"):
        values = [p for row in rows for p in row]
        (self.folder / name).write_bytes(npy_file.written(dtype, (len(rows), *shape), values))

    def archive(self, name, arrays, method=zipfile.ZIP_STORED):
        with zipfile.ZipFile(self.folder / name, "w", method) as file:
            for key, content in arrays.items():
                file.writestr(key + ".npy", content)

    def right(self, program):
        """How many of the held-out images a program tells."""
        calls = []
        for i, (pixels, _) in enumerate(self.images):
            (self.folder / f"i{i}.npy").write_bytes(npy_file.written("<f4", (1, 1, 8, 8), pixels))
            calls += ["--call", f"forward:i{i}.npy"]
        self.done("run", program, *calls, "--output-dir", "out")
        right = 0
        for i, (_, digit) in enumerate(self.images):
            scores = npy_file.read_elements(self.folder / "out" / f"call_{i}_output_0.npy")
            right += scores.index(max(scores)) == digit
        return right

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
                self.assertGreaterEqual(self.right("int8.pte"), floats - 1)
                self.assertLess((self.folder / "int8.pte").stat().st_size, 0.4 * size)

    def noise_of_eager(self, program, fixture):
        """The signal of eager torch's first output to the program's noise, in dB."""
        inputs = sorted(LAYERS.glob(f"{fixture}.input_*.npy"))
        self.done("run", program, *(w for path in inputs for w in ("--input", path)),
                  "--output-dir", "out")
        wanted = npy_file.read_elements(LAYERS / f"{fixture}.output_0.npy")
        made = npy_file.read_elements(self.folder / "out" / "output_0.npy")
        noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
        return 10 * math.log10(sum(a * a for a in wanted) / noise)

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
                self.assertIn("conv2d (aten.convolution.default): is a convolution", report)
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

    def outputs_of_loud(self, program):
        """Those of all samples, one after another."""
        values = npy_file.read_elements(LOUD / "loud.samples.npy")
        calls = []
        for i in range(len(values) // 16):
            (self.folder / f"x{i}.npy").write_bytes(
                npy_file.written("<f4", (1, 16), values[16 * i:16 * i + 16]))
            calls += ["--call", f"forward:x{i}.npy"]
        self.done("run", program, *calls, "--output-dir", "out")
        return [value for i in range(len(values) // 16)
                for value in npy_file.read_elements(self.folder / "out" / f"call_{i}_output_0.npy")]

    def test_layers_stay_float_by_budget_of_noise(self):
        quantize = ["quantize", LOUD / "loud.pt2", "--calibrate", LOUD / "loud.samples.npy"]
        wanted = npy_file.read_elements(LOUD / "loud.outputs.npy")
        for backend in ("xnnpack", "none"):
            for ranges in ("min-max", "least-error"):
                with self.subTest(backend=backend, ranges=ranges):
                    options = ["--backend", backend, "--ranges", ranges]
                    said = self.done(*quantize, "-o", "all.pte", *options)
                    self.assertLess(float(said.split("noise ")[1].split(" dB")[0]), 25)
                    said = self.done(*quantize, "-o", "m.pte", "--min-sqnr", "30", *options,
                                     "--record", "q.json", "--report", "r.json")
                    made = self.outputs_of_loud("m.pte")
                    noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
                    sqnr = 10 * math.log10(sum(a * a for a in wanted) / noise)
                    self.assertGreaterEqual(sqnr, 30)
                    self.assertIn(f"signal to noise {sqnr:.1f} dB", said)
                    # The layers on both sides of the loud channel and no other.
                    record = json.loads((self.folder / "q.json").read_text())
                    kept = record["methods"]["forward"]["keep_float"]
                    self.assertEqual(sorted(kept), ["linear", "linear_1", "relu", "relu_1"])
                    self.assertRegex(kept["linear"], r"outputs have .* dB, .* dB with it")
                    report = json.loads((self.folder / "r.json").read_text())
                    layers = report["methods"]["forward"]["layers"]
                    self.assertEqual(layers[-1]["computes"], "int8")
                    self.assertIn("is kept float: outputs have", layers[0]["why_float"])
                    self.done("export", LOUD / "loud.pt2", "--quantize", "q.json", "-o", "n.pte",
                              "--backend", backend)
                    self.assertEqual((self.folder / "m.pte").read_bytes(),
                                     (self.folder / "n.pte").read_bytes())

    def test_layers_stay_float_by_budget_of_accuracy(self):
        labels = npy_file.read_elements(LOUD / "loud.labels.npy")
        quantize = ["quantize", LOUD / "loud.pt2", "--calibrate", LOUD / "loud.samples.npy"]

        def right(program):
            made = self.outputs_of_loud(program)
            rows = [made[i:i + 10] for i in range(0, len(made), 10)]
            return sum(row.index(max(row)) == label for row, label in zip(rows, labels))

        self.done(*quantize, "-o", "all.pte")
        self.assertLess(right("all.pte"), 0.9 * len(labels))
        self.done(*quantize, "-o", "m.pte", "--accuracy", LOUD / "loud.labels.npy", "--max-drop",
                  "3", "--record", "q.json")
        self.assertGreaterEqual(right("m.pte"), 0.97 * len(labels))
        kept = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]["keep_float"]
        self.assertTrue(kept)

    def test_digits_keep_no_layer_float_that_they_need_not(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images])
        labels = [digit for _, digit in self.images]
        (self.folder / "y.npy").write_bytes(npy_file.written("|u1", (len(labels),), labels))
        said = self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", "--accuracy",
                         "y.npy")
        self.assertIn("0 nodes stay float", said)
        self.done("export", DIGITS, "-o", "floats.pte")
        self.assertGreaterEqual(self.right("m.pte"), self.right("floats.pte") - 1)

    def test_budgets_that_cannot_be_kept_are_told(self):
        samples = LOUD / "loud.samples.npy"
        quantize = ["quantize", LOUD / "loud.pt2", "--calibrate", samples, "-o", "m.pte"]
        said = self.refuses(1, *quantize, "--min-sqnr", "150")
        self.assertIn("no layer can compute with integers within the budget: at least 150 dB", said)
        self.assertIn("--max-drop is for --accuracy", self.refuses(2, *quantize, "--max-drop", "1"))
        self.assertIn("need samples: --calibrate",
                      self.refuses(2, "quantize", DIGITS, "--scheme", "dynamic-int8", "-o", "m.pte",
                                   "--min-sqnr", "30"))
        self.assertIn("must be of whole numbers",
                      self.refuses(1, *quantize, "--accuracy", samples))
        (self.folder / "y.npy").write_bytes(npy_file.written("<i8", (3,), [1, 2, 3]))
        self.assertIn("y.npy: has 3 labels, there are 128 samples",
                      self.refuses(1, *quantize, "--accuracy", "y.npy"))
        (self.folder / "y.npy").write_bytes(npy_file.written("<i8", (128,), [10] * 128))
        self.assertIn("label 0 is 10, must be below 10",
                      self.refuses(1, *quantize, "--accuracy", "y.npy"))
        self.assertIn("gone.npy", self.refuses(1, *quantize, "--accuracy", "gone.npy"))
        self.assertIn("output 'y.npy' is a file that is read",
                      self.refuses(1, *quantize[:-1], "y.npy", "--accuracy", "y.npy"))

    def test_reports_tell_of_every_layer(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:16]])
        said = self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", "--report",
                         "r.txt", "--report", "r.json", "--report", "r.svg", "--keep-float",
                         "linear*", "--backend", "none")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["written_bytes"], (self.folder / "m.pte").stat().st_size)
        method = report["methods"]["forward"]
        self.assertEqual(method["samples"], 16)
        layers = method["layers"]
        products = [layer for layer in layers if "convolution" in layer["operators"]]
        self.assertEqual([layer["operators"] for layer in products], ["convolution, relu"] * 3)
        for layer in products:
            self.assertEqual(layer["computes"], "int8")
            self.assertGreater(layer["sqnr_db"], 25)
            self.assertLess(layer["sqnr_db"], 70)
            self.assertLess(layer["stored_bytes"], 0.5 * layer["float_bytes"])
            self.assertIn("max", layer)
        kept = [layer for layer in layers if layer.get("why_float") == "is kept float"]
        self.assertEqual([layer["operators"] for layer in kept], ["linear"])
        self.assertEqual(kept[0]["stored_bytes"], kept[0]["float_bytes"])
        # The last layer makes the output, and kernels run both.
        output = method["outputs"][0]["sqnr_db"]
        self.assertAlmostEqual(layers[-1]["sqnr_db"], output, places=3)
        self.assertIn(f"output 0: signal to noise {output:.1f} dB", said)
        table = (self.folder / "r.txt").read_text()
        for layer in layers:
            self.assertIn(layer["layer"], table)
        self.assertIn("is kept float", table)
        picture = ElementTree.parse(self.folder / "r.svg")
        bars = [bar for bar in picture.iter("{http://www.w3.org/2000/svg}rect") if bar.get("x")]
        self.assertEqual(len(bars), len(layers))

    def test_noise_of_a_layer_is_what_eager_torch_calls_it(self):
        # The layer is the whole model: its noise is that of the program to eager torch.
        model = LAYERS / "encoder.pt2"
        inputs = sorted(LAYERS.glob("encoder.input_*.npy"))
        self.archive("x.npz", {f"arr_{i}": path.read_bytes() for i, path in enumerate(inputs)})
        self.done("quantize", model, "--scheme", "dynamic-int8", "--calibrate", "x.npz", "-o",
                  "m.pte", "--report", "r.json", "--backend", "none")
        method = json.loads((self.folder / "r.json").read_text())["methods"]["forward"]
        self.assertAlmostEqual(method["layers"][-1]["sqnr_db"],
                               self.noise_of_eager("m.pte", "encoder"), delta=0.2)
        self.assertEqual({layer["computes"] for layer in method["layers"]}, {"int8 rows", "float"})

    def test_reports_without_samples_have_no_noise(self):
        self.done("quantize", LAYERS / "encoder.pt2", "--scheme", "dynamic-int8", "-o", "m.pte",
                  "--report", "r.json")
        layers = json.loads((self.folder / "r.json").read_text())["methods"]["forward"]["layers"]
        self.assertTrue(layers)
        self.assertFalse([layer for layer in layers if "sqnr_db" in layer])

    def test_reports_are_written_to_files_of_their_own(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[:2]])
        quantize = ["quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", "--report"]
        self.assertIn("--report 'r.pdf' must end in .txt, .json or .svg",
                      self.refuses(2, *quantize, "r.pdf"))
        self.assertIn("gone/r.txt", self.refuses(1, *quantize, "gone/r.txt"))
        self.assertIn("a report would be written to 'q.json', as another file",
                      self.refuses(1, *quantize, "./q.json", "--record", "q.json"))
        self.samples("nan.npy", [[math.nan] * PIXELS])
        self.refuses(1, *quantize, "r.txt", "--calibrate", "nan.npy")

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
        for ranges in ("min-max", "least-error"):
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
        self.assertIn("numpy.savez_compressed does not", self.refuses(1, *quantize, "packed.npz"))
        (self.folder / "cut.npz").write_bytes((self.folder / "more.npz").read_bytes()[:-30])
        self.assertIn("cut.npz: ", self.refuses(1, *quantize, "cut.npz"))
        self.assertIn("gone.npy", self.refuses(1, *quantize, "gone.npy"))

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
        self.assertIn("--quantize is for petrel export",
                      self.refuses(2, *quantize, "--quantize", "q.json"))
        export = ["export", DIGITS, "-o", "m.pte", "--quantize"]
        self.assertIn("gone.json: No such file", self.refuses(1, *export, "gone.json"))
        (self.folder / "bad.json").write_text('{"format": 1}')
        self.assertIn("bad.json: has no \"methods\"", self.refuses(1, *export, "bad.json"))
        (self.folder / "empty.json").write_text(
            '{"format": 1, "methods": {"forward": {"values": {}}}}')
        self.assertIn("the record has no numbers for value", self.refuses(1, *export, "empty.json"))
        (self.folder / "none.json").write_text('{"format": 1, "methods": {}}')
        self.assertIn("the record has no method 'forward'", self.refuses(1, *export, "none.json"))
        self.assertIn("nothing to quantise: no product",
                      self.refuses(1, "quantize", LAYERS / "order.pt2", "-o", "m.pte",
                                   "--calibrate", "x.npy"))


if __name__ == "__main__":
    unittest.main()
