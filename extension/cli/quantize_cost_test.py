# SPDX-License-Identifier: Apache-2.0
"""`petrel quantize`: what it costs, told and kept small: reports, budgets and roundings."""

import json
import math
import pathlib
import unittest
from xml.etree import ElementTree

import npy_file
from quantize_case import DIGITS, LAYERS, PIXELS, QuantizeCase

MODELS = pathlib.Path("extension/quantize/testdata").absolute()


class QuantizeCostTest(QuantizeCase):
    def outputs_of_loud(self, program):
        return self.outputs_of_samples(program, MODELS / "loud.samples.npy", (1, 16))

    def test_rounding_by_least_error_errs_less_on_what_was_not_seen(self):
        model, samples = MODELS / "correlated.pt2", MODELS / "correlated.samples.npy"
        wanted = npy_file.read_elements(MODELS / "correlated.outputs.npy")

        def error(program):
            made = self.outputs_of_samples(program, MODELS / "correlated.others.npy", (4, 64))
            return math.sqrt(sum((a - b) ** 2 for a, b in zip(wanted, made)))

        quantize = ["quantize", model, "--scheme", "dynamic-int4"]
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                self.done(*quantize, "-o", "nearest.pte", "--backend", backend)
                self.done(*quantize, "-o", "least.pte", "--backend", backend, "--rounding",
                          "least-error", "--calibrate", samples, "--record", "q.json")
                self.assertLess(error("least.pte"), error("nearest.pte") * 2 / 3)
                self.assertEqual((self.folder / "least.pte").stat().st_size,
                                 (self.folder / "nearest.pte").stat().st_size)
                # The record has the roundings: no samples are needed to make it again.
                self.done("export", model, "--quantize", "q.json", "-o", "again.pte", "--backend",
                          backend)
                self.assertEqual((self.folder / "again.pte").read_bytes(),
                                 (self.folder / "least.pte").read_bytes())

    def test_activations_and_constants_are_of_integers(self):
        model, samples = MODELS / "activations.pt2", MODELS / "activations.samples.npy"
        wanted = npy_file.read_elements(MODELS / "activations.outputs.npy")

        def decibels(program):
            made = self.outputs_of_samples(program, MODELS / "activations.samples.npy", (1, 3, 8, 8))
            noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
            return 10 * math.log10(sum(a * a for a in wanted) / noise)

        said = self.done("quantize", model, "--calibrate", samples, "-o", "m.pte", "--record",
                         "q.json")
        self.assertIn("0 nodes stay float", said)
        # Kernels compute between levels as eager PyTorch does.
        self.done("export", model, "--quantize", "q.json", "-o", "k.pte", "--backend", "none")
        self.assertGreater(decibels("k.pte"), 30)
        self.assertGreater(decibels("m.pte"), decibels("k.pte") - 1)
        # One call takes all. Images are floats within silu and hardsigmoid, whose integers would be a
        # level off; the mean reads levels.
        shown = self.done("inspect", "m.pte")
        self.assertEqual(shown.count("delegate 0 XnnpackBackend"), 1, shown)
        self.assertNotIn("delegate 1", shown)
        self.assertEqual(shown.count("FP32[1,8,8,8]"), 6, shown)

    def test_half_is_close_and_half_as_large(self):
        # All weights are of linear layers, which have them in half on XNNPACK too.
        model, samples = MODELS / "correlated.pt2", MODELS / "correlated.others.npy"
        wanted = npy_file.read_elements(MODELS / "correlated.outputs.npy")
        self.done("export", model, "-o", "floats.pte")
        floats = (self.folder / "floats.pte").stat().st_size
        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                said = self.done("quantize", model, "--scheme", "half", "-o", "h.pte", "--backend",
                                 backend, "--calibrate", samples, "--record", "q.json",
                                 "--report", "r.json")
                self.assertIn("0 nodes stay float", said)
                self.assertLess((self.folder / "h.pte").stat().st_size, 0.6 * floats)
                made = self.outputs_of_samples("h.pte", MODELS / "correlated.others.npy", (4, 64))
                noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
                sqnr = 10 * math.log10(sum(a * a for a in wanted) / noise)
                # Half has 11 bits: eager PyTorch has 64.8 dB.
                self.assertGreater(sqnr, 60)
                self.assertIn(f"signal to noise {sqnr:.1f} dB", said)
                report = json.loads((self.folder / "r.json").read_text())
                layers = report["methods"]["forward"]["layers"]
                self.assertEqual({layer["computes"] for layer in layers}, {"half"})
                self.done("export", model, "--quantize", "q.json", "-o", "again.pte", "--backend",
                          backend)
                self.assertEqual((self.folder / "again.pte").read_bytes(),
                                 (self.folder / "h.pte").read_bytes())

    def test_roundings_are_of_one_weight(self):
        model, samples = MODELS / "correlated.pt2", MODELS / "correlated.samples.npy"
        least = ["--rounding", "least-error"]
        quantize = ["quantize", model, "--scheme", "dynamic-int4", "-o", "m.pte", *least]
        self.assertIn("needs samples: --calibrate", self.refuses(2, *quantize))
        self.assertIn("is for --scheme dynamic-int4",
                      self.refuses(2, "quantize", model, "--calibrate", samples, "-o", "m.pte",
                                   *least))
        self.assertIn("does not go with weights by name",
                      self.refuses(1, *quantize, "--calibrate", samples, "--weight-keys", "name"))
        values = list(npy_file.read_elements(samples))
        values[300] = math.nan
        (self.folder / "nan.npy").write_bytes(npy_file.written("<f4", (64, 4, 64), values))
        self.assertIn("nan.npy: sample 1: value",
                      self.refuses(1, *quantize, "--calibrate", "nan.npy"))
        self.done(*quantize, "--calibrate", samples, "--record", "q.json")
        good = json.loads((self.folder / "q.json").read_text())
        name = sorted(good["roundings"])[0]
        for key, value, said in (("sha256", "0" * 64, "is of a weight with other numbers"),
                                 ("levels", "AAAA", "is of a weight with other numbers"),
                                 ("levels", "?", '"levels" is not base64'),
                                 ("scales", "AAAA", "must have 2 for each"),
                                 ("scales", "AAA=", "scale 0 is 0")):
            bad = json.loads(json.dumps(good))
            bad["roundings"][name][key] = value
            (self.folder / "bad.json").write_text(json.dumps(bad))
            self.assertIn(said, self.refuses(1, "export", model, "--quantize", "bad.json", "-o",
                                             "n.pte"))
        bad = json.loads(json.dumps(good))
        bad["roundings"]["none@int4.32"] = good["roundings"][name]
        (self.folder / "bad.json").write_text(json.dumps(bad))
        self.assertIn("a rounding 'none@int4.32', which is not a weight of 4 bits",
                      self.refuses(1, "export", model, "--quantize", "bad.json", "-o", "n.pte"))

    def test_ranges_are_those_with_which_outputs_err_least(self):
        best = set()
        for model in ("activations", "uneven"):
            noise = {}
            for ranges in ("min-max", "least-error", "percentile", "percentile=99.9", ""):
                said = self.done("quantize", MODELS / f"{model}.pt2", "--calibrate",
                                 MODELS / f"{model}.samples.npy", "-o", "m.pte",
                                 *(["--ranges", ranges] if ranges else []))
                noise[ranges] = float(said.split("noise ")[1].split(" dB")[0])
            by_outputs = noise.pop("")
            # Tried on some samples, and on histograms of some.
            self.assertGreater(by_outputs, max(noise.values()) - 0.5, (model, noise))
            best.add(max(noise, key=noise.get))
            self.assertIn(f"ranges: {max(noise, key=noise.get)}, with which outputs", said)
        self.assertEqual(best, {"min-max", "percentile=99.9"})

    def test_what_seldom_samples_need_is_not_cut(self):
        model, samples = MODELS / "seldom.pt2", MODELS / "seldom.samples.npy"
        noise = {}
        for ranges in ("min-max", "by-outputs"):
            said = self.done("quantize", model, "--calibrate", samples, "-o", "m.pte", "--ranges",
                             ranges)
            noise[ranges] = float(said.split("noise ")[1].split(" dB")[0])
        self.assertGreater(noise["min-max"], 20)
        self.assertGreaterEqual(noise["by-outputs"], noise["min-max"])

    def test_recurrent_cells_cost_hardly_more_than_in_floats(self):
        model, samples = MODELS / "cell.pt2", MODELS / "cell.samples.npy"
        wanted = npy_file.read_elements(MODELS / "cell.outputs.npy")

        def decibels(program):
            made = self.outputs_of_samples(program, MODELS / "cell.samples.npy", (1, 8, 8))
            noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
            return 10 * math.log10(sum(a * a for a in wanted) / noise)

        for backend in ("xnnpack", "none"):
            with self.subTest(backend):
                said = self.done("quantize", model, "--calibrate", samples, "-o", "m.pte",
                                 "--backend", backend, "--record", "q.json")
                self.assertIn("recurrent cells: ", said)
                export = ["export", model, "-o", "n.pte", "--backend", backend, "--quantize"]
                self.done(*export, "q.json")
                self.assertEqual((self.folder / "m.pte").read_bytes(),
                                 (self.folder / "n.pte").read_bytes())
                record = json.loads((self.folder / "q.json").read_text())
                forms = record["methods"]["forward"]["on_backends"]
                self.assertEqual(set(forms.values()), {"rows"})
                forms.update({name: "float" for name in forms if name != "linear"})
                forms.pop("linear", None)
                (self.folder / "float.json").write_text(json.dumps(record))
                self.done(*export, "float.json")
                in_floats = decibels("n.pte")
                record["methods"]["forward"]["on_backends"] = {}
                (self.folder / "levels.json").write_text(json.dumps(record))
                self.done(*export, "levels.json")
                self.assertGreater(in_floats, decibels("n.pte") + 0.25)
                self.assertGreater(decibels("m.pte"), in_floats - 0.3)
        # Integers alone compute all of it from the same record.
        self.done("export", model, "-o", "i.pte", "--quantize", "q.json", "--int8", "integer",
                  "--allow-petrel-ops")
        record["methods"]["forward"]["on_backends"] = {"none": "rows"}
        (self.folder / "bad.json").write_text(json.dumps(record))
        self.assertIn("how backends compute 'none', which is not a node",
                      self.refuses(1, *export, "bad.json"))
        sigmoid = next(name for name in record["methods"]["forward"]["values"] if "sigmoid" in name)
        record["methods"]["forward"]["on_backends"] = {sigmoid: "rows"}
        (self.folder / "bad.json").write_text(json.dumps(record))
        self.assertIn(f"the record has '{sigmoid}' computed by rows, which is not a product",
                      self.refuses(1, *export, "bad.json"))

    def test_layers_stay_float_by_budget_of_noise(self):
        quantize = ["quantize", MODELS / "loud.pt2", "--calibrate", MODELS / "loud.samples.npy"]
        wanted = npy_file.read_elements(MODELS / "loud.outputs.npy")
        for backend in ("xnnpack", "none"):
            for ranges in ("min-max", "least-error", "percentile=99.9"):
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
                    self.done("export", MODELS / "loud.pt2", "--quantize", "q.json", "-o", "n.pte",
                              "--backend", backend)
                    self.assertEqual((self.folder / "m.pte").read_bytes(),
                                     (self.folder / "n.pte").read_bytes())

    # Backends give rows of the layer scales at run time, and integers alone join it with its relu.
    def test_a_layer_in_front_of_a_cell_stays_float_with_its_activation(self):
        quantize = ["quantize", MODELS / "led.pt2", "--calibrate", MODELS / "led.samples.npy"]
        said = self.done(*quantize, "-o", "all.pte")
        self.assertIn("recurrent cells: rows of all products", said)
        self.assertLess(float(said.split("noise ")[1].split(" dB")[0]), 51)
        said = self.done(*quantize, "-o", "m.pte", "--min-sqnr", "52", "--record", "q.json")
        self.assertGreaterEqual(float(said.split("noise ")[1].split(" dB")[0]), 52)
        self.done("export", MODELS / "led.pt2", "--quantize", "q.json", "-o", "n.pte")
        self.assertEqual((self.folder / "m.pte").read_bytes(),
                         (self.folder / "n.pte").read_bytes())
        self.assertIn("no layer can compute with integers",
                      self.refuses(1, *quantize, "-o", "m.pte", "--min-sqnr", "150"))

    def test_layers_stay_float_by_budget_of_accuracy(self):
        labels = npy_file.read_elements(MODELS / "loud.labels.npy")
        quantize = ["quantize", MODELS / "loud.pt2", "--calibrate", MODELS / "loud.samples.npy"]

        def right(program):
            made = self.outputs_of_loud(program)
            rows = [made[i:i + 10] for i in range(0, len(made), 10)]
            return sum(row.index(max(row)) == label for row, label in zip(rows, labels))

        self.done(*quantize, "-o", "all.pte")
        self.assertLess(right("all.pte"), 0.9 * len(labels))
        said = self.done(*quantize, "-o", "m.pte", "--accuracy", MODELS / "loud.labels.npy",
                         "--max-drop", "3", "--record", "q.json")
        told = right("m.pte")
        self.assertGreaterEqual(told, 0.97 * len(labels))
        self.assertIn(f"accuracy: {100 * told / len(labels):.4g} % of {len(labels)} labels, "
                      "in floats 100 %", said)
        kept = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]["keep_float"]
        self.assertTrue(kept)

    def test_digits_keep_no_layer_float_that_they_need_not(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images])
        labels = [digit for _, digit in self.images]
        (self.folder / "y.npy").write_bytes(npy_file.written("|u1", (len(labels),), labels))
        said = self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", "--accuracy",
                         "y.npy")
        self.assertIn("0 nodes stay float", said)
        self.assertIn(f"accuracy: {100 * self.right('m.pte') / len(labels):.4g} %", said)
        self.done("export", DIGITS, "-o", "floats.pte")
        self.assertGreaterEqual(self.right("m.pte"), self.right("floats.pte") - 1)

    def test_budgets_that_cannot_be_kept_are_told(self):
        samples = MODELS / "loud.samples.npy"
        quantize = ["quantize", MODELS / "loud.pt2", "--calibrate", samples, "-o", "m.pte"]
        for word in ("nan", "inf", "-inf"):
            self.assertIn(f"--min-sqnr is {word}, must be a finite number of dB",
                          self.refuses(2, *quantize, f"--min-sqnr={word}"))
        said = self.refuses(1, *quantize, "--min-sqnr", "150")
        self.assertIn("no layer can compute with integers within the budget: at least 150 dB", said)
        # What moves elements and curves have no integers either without a product beside them.
        said = self.refuses(1, "quantize", MODELS / "activations.pt2", "--calibrate",
                            MODELS / "activations.samples.npy", "-o", "a.pte", "--min-sqnr", "150")
        self.assertIn("no layer can compute with integers within the budget: at least 150 dB", said)
        self.assertFalse((self.folder / "a.pte").exists())
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


if __name__ == "__main__":
    unittest.main()
