# SPDX-License-Identifier: Apache-2.0
"""petrel.quantize: float models into programs of int8, from arrays or files."""

import json
import os
import pathlib
import tempfile
import unittest

import numpy
import petrel

DIGITS = "examples/quickstart/digits.pt2"
CORRELATED = "extension/quantize/testdata/correlated"
LOUD = "extension/quantize/testdata/loud"
UNEVEN = "extension/quantize/testdata/uneven"
PIXELS = 64


def digits():
    rows = numpy.fromfile("examples/quickstart/digits.bin", numpy.uint8).reshape(-1, PIXELS + 1)
    images = rows[:, :PIXELS].astype(numpy.float32).reshape(-1, 1, 1, 8, 8) / 16
    return images, rows[:, PIXELS]


class Bias(petrel.NamedDataMap):

    def __init__(self, key, bias):
        self.data = {key: bias}

    def get_data(self, key):
        return self.data[key]

    def keys(self):
        return self.data.keys()


class QuantizeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.images, self.labels = digits()

    def right(self, program):
        forward = petrel.load(program.path)["forward"]
        return sum(int(forward(image)[0].argmax()) == label
                   for image, label in zip(self.images, self.labels))

    def test_digits_lose_at_most_one_image(self):
        floats = self.right(petrel.export(DIGITS))
        for backend in ("xnnpack", None):
            program = petrel.quantize(DIGITS, calibrate=self.images[::2], backend=backend)
            self.assertGreaterEqual(self.right(program), floats - 1)

    def test_another_bias_counts_where_rows_are_quantised(self):
        # XNNPACK packs it with the weights, and does not name it when it looks for them.
        program = petrel.quantize(DIGITS, scheme="dynamic-int8", weight_keys="name",
                                  external_weights="w.ptd")
        key, = [entry["key"] for entry in petrel.list_data(program.external_paths[0])
                if entry["key"].endswith("bias") and entry["bytes"] == 40]
        packed = {"XnnpackBackend": {"packed_weights_file": str(self.folder / "w.packed")}}
        for options in ({}, packed):
            loaded = petrel.load(program, backend_options=options)
            before, = loaded["forward"](self.images[0])
            bias = loaded.get_data(key).view(numpy.float32) + 5
            for _ in range(10):
                self.assertEqual(loaded.replace_data([Bias(key, bias)])["changed"], 1)
                numpy.testing.assert_allclose(loaded["forward"](self.images[0])[0], before + 5,
                                              rtol=1e-5)
                loaded.replace_data([program.external_paths[0]])
                numpy.testing.assert_array_equal(loaded["forward"](self.images[0])[0], before)
            path = program.external_paths[0]
            other = petrel.load(program.path, data=[path], backend_options=options)
            numpy.testing.assert_array_equal(other["forward"](self.images[0])[0], before)

    def test_samples_are_the_same_in_every_form(self):
        few = self.images[:4]
        numpy.save(self.folder / "x.npy", few)
        numpy.savez(self.folder / "x.npz", image=few)
        made = set()
        for samples in (few, (few,), {"image": few}, list(few), iter(few), self.folder / "x.npy",
                        [str(self.folder / "x.npz")]):
            program = petrel.quantize(DIGITS, calibrate=samples)
            made.add(pathlib.Path(program.path).read_bytes())
        program = petrel.quantize(methods={"forward": DIGITS}, calibrate={"forward": few})
        made.add(pathlib.Path(program.path).read_bytes())
        self.assertEqual(len(made), 1)

    def test_the_record_makes_the_same_program(self):
        record = self.folder / "q.json"
        first = petrel.quantize(DIGITS, calibrate=self.images[:4], record=record,
                                keep_float=["linear"], ranges="least-error",
                                external_weights="w.ptd")
        method = json.loads(record.read_text())["methods"]["forward"]
        self.assertEqual(method["keep_float"], ["linear"])
        again = petrel.export(DIGITS, quantize=str(record), external_weights="w.ptd")
        self.assertEqual(pathlib.Path(first.path).read_bytes(),
                         pathlib.Path(again.path).read_bytes())
        self.assertEqual(len(first.external_paths), 1)

    def test_schemes_without_samples(self):
        floats = self.right(petrel.export(DIGITS))
        record = self.folder / "q.json"
        program = petrel.quantize(DIGITS, scheme="dynamic-int4", group=64, record=record)
        self.assertGreaterEqual(self.right(program), floats - 2)
        method = json.loads(record.read_text())["methods"]["forward"]
        self.assertEqual((method["scheme"], method["group"]), ("dynamic-int4", 64))
        again = petrel.export(DIGITS, quantize=str(record))
        self.assertEqual(pathlib.Path(program.path).read_bytes(),
                         pathlib.Path(again.path).read_bytes())
        with self.assertRaisesRegex(TypeError, "calibrate= is required"):
            petrel.quantize(DIGITS)
        with self.assertRaisesRegex(ValueError, "scheme is 'int8', must be one of"):
            petrel.quantize(DIGITS, scheme="int8")
        with self.assertRaisesRegex((petrel.Error, ValueError), "group is 33, must be"):
            petrel.quantize(DIGITS, scheme="dynamic-int4", group=33)

    def test_reports_tell_of_every_layer(self):
        paths = [self.folder / "r.json", str(self.folder / "r.txt"), self.folder / "r.svg"]
        program = petrel.quantize(DIGITS, calibrate=self.images[:8], keep_float=["linear"],
                                  report=paths)
        report = json.loads(paths[0].read_text())
        self.assertEqual(report["written_bytes"], os.path.getsize(program.path))
        layers = report["methods"]["forward"]["layers"]
        kept = [layer["layer"] for layer in layers if layer.get("why_float") == "is kept float"]
        self.assertEqual(kept, ["linear"])
        self.assertGreater(min(layer["sqnr_db"] for layer in layers), 25)
        self.assertTrue(all(path.exists() for path in map(pathlib.Path, paths)))
        record = self.folder / "q.json"
        with self.assertRaisesRegex(ValueError, "must end in .txt, .json or .svg"):
            petrel.quantize(DIGITS, calibrate=self.images[:8], report="r.pdf", record=record)
        self.assertFalse(record.exists())

    def test_layers_stay_float_by_budget(self):
        samples, labels = LOUD + ".samples.npy", LOUD + ".labels.npy"
        wanted = numpy.load(LOUD + ".outputs.npy")
        for budget in ({"min_sqnr": 30}, {"accuracy": labels, "max_drop": 3},
                       {"accuracy": {"forward": numpy.load(labels)}, "max_drop": 4}):
            record = self.folder / "q.json"
            program = petrel.quantize(LOUD + ".pt2", calibrate=samples, record=record, **budget)
            forward = petrel.load(program.path)["forward"]
            made = numpy.stack([forward(sample)[0] for sample in numpy.load(samples)])
            noise = 10 * numpy.log10((wanted ** 2).sum() / ((wanted - made) ** 2).sum())
            self.assertGreater(noise, 30 if "min_sqnr" in budget else 20)
            self.assertTrue(json.loads(record.read_text())["methods"]["forward"]["keep_float"])
        with self.assertRaisesRegex((petrel.Error, ValueError), "has 3 labels, there are 128"):
            petrel.quantize(LOUD + ".pt2", calibrate=samples, accuracy=[1, 2, 3])

    def test_percentiles_are_those_of_the_samples(self):
        samples = numpy.load(LOUD + ".samples.npy")
        record, scales = self.folder / "q.json", {}
        for ranges in ("min-max", "percentile", "percentile=99", "percentile=90"):
            petrel.quantize(LOUD + ".pt2", calibrate=LOUD + ".samples.npy", ranges=ranges,
                            record=record)
            values = json.loads(record.read_text())["methods"]["forward"]["values"]
            scales[ranges] = values["input"]["scale"]
        bin_size = (samples.max() - samples.min()) / 2048
        for percent in (99, 90):
            low = -numpy.percentile(-samples[samples < 0], percent, method="higher")
            high = numpy.percentile(samples[samples > 0], percent, method="higher")
            self.assertAlmostEqual(scales[f"percentile={percent}"] * 255, high - low,
                                   delta=3 * bin_size)
        self.assertLess(scales["percentile=99"], 0.95 * scales["min-max"])
        self.assertEqual(scales["percentile"], scales["min-max"])  # 2048 numbers
        for word in ("percentile=nan", "percentile=20"):
            with self.assertRaisesRegex(ValueError, f"ranges is '{word}', its percentage"):
                petrel.quantize(LOUD + ".pt2", calibrate=samples, ranges=word)

    def test_channels_are_equalised_and_biases_corrected(self):
        wanted = numpy.load(UNEVEN + ".outputs.npy")
        noise, record = {}, self.folder / "q.json"
        for words in ({}, {"equalise": True}, {"equalise": True, "correct_bias": True}):
            program = petrel.quantize(UNEVEN + ".pt2", calibrate=UNEVEN + ".samples.npy",
                                      record=record, **words)
            forward = petrel.load(program.path)["forward"]
            made = numpy.stack([forward(x)[0] for x in numpy.load(UNEVEN + ".others.npy")])
            noise[len(words)] = 10 * numpy.log10((wanted ** 2).sum() / ((wanted - made) ** 2).sum())
            again = petrel.export(UNEVEN + ".pt2", quantize=str(record))
            self.assertEqual(pathlib.Path(program.path).read_bytes(),
                             pathlib.Path(again.path).read_bytes())
        self.assertGreater(noise[1], noise[0] + 30)
        self.assertGreater(noise[2], noise[1] + 2)
        with self.assertRaisesRegex((petrel.Error, ValueError), "equalising channels is for"):
            petrel.quantize(UNEVEN + ".pt2", scheme="dynamic-int8", equalise=True)

    def test_inputs_and_outputs_are_integers_where_they_are_asked_for(self):
        record = str(self.folder / "q.json")
        program = petrel.quantize(DIGITS, calibrate=self.images[::2], record=record)
        floats = petrel.load(program.path)["forward"]
        self.assertIsNone(floats.inputs[0].scale)
        for made in (petrel.quantize(DIGITS, calibrate=self.images[::2], io_dtype=["int8"]),
                     petrel.export(DIGITS, quantize=record, io_dtype=["int8"])):
            forward = petrel.load(made.path)["forward"]
            image, logits = forward.inputs[0], forward.outputs[0]
            self.assertEqual((image.dtype, logits.dtype), ("int8", "int8"))
            for sample in self.images[1::40]:
                levels = numpy.round(sample / numpy.float32(image.scale)) + image.zero_point
                output, = forward(numpy.clip(levels, -128, 127).astype(numpy.int8))
                numbers = (output.astype(numpy.float32) - logits.zero_point) * numpy.float32(
                    logits.scale)
                numpy.testing.assert_array_equal(numbers, floats(sample)[0])
        with self.assertRaisesRegex((petrel.Error, ValueError), "image' must stay f32"):
            petrel.export(DIGITS, io_dtype=["image=int8"])

    def test_budgets_are_numbers(self):
        for budget in ({"min_sqnr": float("nan")}, {"min_sqnr": float("inf")},
                       {"accuracy": LOUD + ".labels.npy", "max_drop": float("nan")}):
            with self.assertRaisesRegex((petrel.Error, ValueError), "(min-sqnr|max-drop) is"):
                petrel.quantize(LOUD + ".pt2", calibrate=LOUD + ".samples.npy", **budget)

    def test_rounding_by_least_error_errs_less(self):
        wanted, others = (numpy.load(CORRELATED + f".{kind}.npy") for kind in ("outputs", "others"))
        errors = {}
        for rounding in ("nearest", "least-error"):
            program = petrel.quantize(CORRELATED + ".pt2", scheme="dynamic-int4", rounding=rounding,
                                      calibrate=CORRELATED + ".samples.npy")
            forward = petrel.load(program.path)["forward"]
            made = numpy.stack([forward(sample)[0] for sample in others])
            errors[rounding] = numpy.sqrt(((wanted - made) ** 2).sum())
        self.assertLess(errors["least-error"], errors["nearest"] * 2 / 3)
        with self.assertRaisesRegex(ValueError, "rounding is 'up'"):
            petrel.quantize(CORRELATED + ".pt2", scheme="dynamic-int4", rounding="up")

    def test_what_is_wrong_is_named(self):
        bad = self.images[:2].copy()
        bad[1, 0, 0, 3, 3] = numpy.nan
        with self.assertRaisesRegex((petrel.Error, ValueError), "is nan"):
            petrel.quantize(DIGITS, calibrate=bad)
        with self.assertRaisesRegex((petrel.Error, ValueError), "float64"):
            petrel.quantize(DIGITS, calibrate=self.images[:2].astype(numpy.float64))
        with self.assertRaisesRegex(ValueError, "ranges is 'widest'"):
            petrel.quantize(DIGITS, calibrate=self.images[:2], ranges="widest")
        with self.assertRaisesRegex(TypeError, "dict by method"):
            petrel.quantize(methods={"a": DIGITS, "b": DIGITS}, calibrate=self.images[:2])
        with self.assertRaisesRegex(TypeError, "is for export"):
            petrel.quantize(DIGITS, calibrate=self.images[:2], quantize="q.json")


if __name__ == "__main__":
    unittest.main()
