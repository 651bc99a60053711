# SPDX-License-Identifier: Apache-2.0
"""`petrel quantize --equalise --correct-bias`: channels of products, one by one."""

import json
import math
import pathlib
import unittest

import npy_file
from quantize_case import DIGITS, LAYERS, QuantizeCase

MODELS = pathlib.Path("extension/quantize/testdata").absolute()
SHAPES = {"uneven": (1, 3, 12, 12), "activations": (1, 3, 8, 8), "loud": (1, 16),
          "correlated": (4, 64)}
WAYS = {"plain": [], "equalised": ["--equalise"], "corrected": ["--correct-bias"],
        "both": ["--equalise", "--correct-bias"]}


class QuantizeChannelsTest(QuantizeCase):
    def decibels(self, program, model, samples):
        """Signal to noise of the first output against eager torch, over all samples."""
        wanted = npy_file.read_elements(MODELS / f"{model}.outputs.npy")
        values = npy_file.read_elements(MODELS / f"{model}.{samples}.npy")
        size = math.prod(SHAPES[model])
        calls = []
        for i in range(len(values) // size):
            (self.folder / f"x{i}.npy").write_bytes(
                npy_file.written("<f4", SHAPES[model], values[size * i:size * (i + 1)]))
            calls += ["--call", f"forward:x{i}.npy"]
        self.done("run", program, *calls, "--output-dir", "out")
        made = [value for i in range(len(values) // size) for value in
                npy_file.read_elements(self.folder / "out" / f"call_{i}_output_0.npy")]
        noise = sum((a - b) ** 2 for a, b in zip(wanted, made))
        return 10 * math.log10(sum(a * a for a in wanted) / noise)

    def quantized(self, model, *words):
        self.done("quantize", MODELS / f"{model}.pt2", "--calibrate",
                  MODELS / f"{model}.samples.npy", "-o", "m.pte", "--record", "q.json", *words)

    def test_uneven_channels_gain(self):
        for backend in ("xnnpack", "none"):
            for ranges in ("min-max", "least-error"):
                with self.subTest(backend=backend, ranges=ranges):
                    noise = {}
                    for name, words in WAYS.items():
                        self.quantized("uneven", *words, "--backend", backend, "--ranges", ranges)
                        noise[name] = self.decibels("m.pte", "uneven", "others")
                        self.done("export", MODELS / "uneven.pt2", "--quantize", "q.json", "-o",
                                  "n.pte", "--backend", backend)
                        self.assertEqual((self.folder / "m.pte").read_bytes(),
                                         (self.folder / "n.pte").read_bytes())
                    self.assertGreater(noise["equalised"], noise["plain"] + 30, noise)
                    self.assertGreater(noise["both"], noise["equalised"] + 2, noise)
                    self.assertGreater(noise["corrected"], noise["plain"] + 6, noise)

    def test_far_channels_are_told(self):
        for model, words, told in (("uneven", [], "conv2d, conv2d_1, conv2d_2, conv2d_3"),
                                   ("loud", [], "linear"), ("activations", [], None),
                                   ("uneven", ["--equalise"], None),
                                   ("correlated", ["--scheme", "dynamic-int8"], None)):
            with self.subTest(model=model, words=words):
                result = self.petrel("quantize", MODELS / f"{model}.pt2", "--calibrate",
                                     MODELS / f"{model}.samples.npy", "-o", "m.pte", *words)
                self.assertEqual(result.returncode, 0, result.stderr)
                wanted = "" if told is None else (
                    f"petrel quantize: method 'forward': channels of {told} are far apart; "
                    "--equalise may gain much\n")
                self.assertEqual(result.stderr, wanted)

    def test_other_models_do_not_lose(self):
        for model, samples in (("activations", "samples"), ("loud", "samples"),
                               ("correlated", "others")):
            with self.subTest(model):
                noise = {}
                for name, words in WAYS.items():
                    self.quantized(model, *words)
                    noise[name] = self.decibels("m.pte", model, samples)
                for name in WAYS:
                    self.assertGreater(noise[name], noise["plain"] - 0.5, name)
                if model == "loud":
                    self.assertGreater(noise["equalised"], noise["plain"] + 25, noise)

    def test_digits_do_not_lose(self):
        self.samples("x.npy", [pixels for pixels, _ in self.images[::2]])
        self.done("export", DIGITS, "-o", "floats.pte")
        floats = self.right("floats.pte")
        self.done("quantize", DIGITS, "--calibrate", "x.npy", "-o", "m.pte", *WAYS["both"])
        self.assertGreaterEqual(self.right("m.pte"), floats - 1)

    def test_the_report_says_what_was_equalised(self):
        self.quantized("uneven", "--equalise", "--report", "r.json", "--report", "r.txt",
                       "--backend", "none")
        layers = json.loads((self.folder / "r.json").read_text())["methods"]["forward"]["layers"]
        texts = [layer.get("channels", "") for layer in layers if "conv" in layer["operators"]]
        self.assertEqual(len(texts), 5)
        for text in texts[:4]:
            self.assertRegex(text, r"^divided by \S+ to \S+$")
            least, most = map(float, text.split(" ")[2::2])
            self.assertGreater(most / least, 100)
        self.assertIn("as they are: aten::", texts[4])
        self.assertIn("divided by", (self.folder / "r.txt").read_text())
        # Layers are compared in the channels that both have: none is off by a factor.
        self.assertGreater(min(layer["sqnr_db"] for layer in layers), 20)
        record = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]
        self.assertEqual(len(record["equalised"]), 4)
        self.assertNotIn("shifts", record)
        self.quantized("uneven", "--report", "r.json")
        layers = json.loads((self.folder / "r.json").read_text())["methods"]["forward"]["layers"]
        self.assertFalse([layer for layer in layers if "channels" in layer])

    def test_a_budget_counts_on_equalised_channels(self):
        self.quantized("uneven", "--equalise", "--min-sqnr", "25")
        record = json.loads((self.folder / "q.json").read_text())["methods"]["forward"]
        self.assertEqual(record["keep_float"], [])
        self.assertTrue(record["equalised"])
        self.quantized("uneven", "--equalise", "--correct-bias", "--min-sqnr", "36")
        self.assertGreater(self.decibels("m.pte", "uneven", "others"), 33)
        self.done("export", MODELS / "uneven.pt2", "--quantize", "q.json", "-o", "n.pte")
        self.assertEqual((self.folder / "m.pte").read_bytes(),
                         (self.folder / "n.pte").read_bytes())

    def test_what_does_not_fit_is_refused(self):
        samples = MODELS / "uneven.samples.npy"
        quantize = ["quantize", MODELS / "uneven.pt2", "--calibrate", samples, "-o", "m.pte"]
        for words in WAYS["both"]:
            self.assertIn(f"{words} is for --scheme static-int8, not for dynamic-int8",
                          self.refuses(2, "quantize", LAYERS / "encoder.pt2", "--scheme",
                                       "dynamic-int8", "-o", "m.pte", words))
        for scheme in ("dynamic-int8", "dynamic-int4", "half"):
            for ranges in ("percentile", "percentile=99", "least-error"):
                self.assertIn(f"--ranges {ranges} is for --scheme static-int8, not for {scheme}",
                              self.refuses(2, "quantize", LAYERS / "encoder.pt2", "--scheme",
                                           scheme, "-o", "m.pte", "--ranges", ranges))
        self.assertIn("--group is for --scheme dynamic-int4, not for half",
                      self.refuses(2, "quantize", LAYERS / "encoder.pt2", "--scheme", "half",
                                   "-o", "m.pte", "--group", "64"))
        self.assertIn("correcting biases is for one training",
                      self.refuses(1, *quantize, "--correct-bias", "--weight-keys", "name"))
        self.quantized("uneven", *WAYS["both"])
        self.assertIn("the record corrects the bias of '",
                      self.refuses(1, "export", MODELS / "uneven.pt2", "--quantize", "q.json",
                                   "-o", "n.pte", "--weight-keys", "name"))
        good = json.loads((self.folder / "q.json").read_text())
        method = good["methods"]["forward"]
        name = sorted(method["shifts"])[0]
        for key, value, said in (
                ("sha256", "0" * 64, f"shifts of '{name}' are of a weight with other numbers"),
                ("of_channels", "AAAAAA==", f"has 1 shifts for '{name}', which has 16 channels")):
            bad = json.loads(json.dumps(good))
            bad["methods"]["forward"]["shifts"][name][key] = value
            (self.folder / "bad.json").write_text(json.dumps(bad))
            self.assertIn(said, self.refuses(1, "export", MODELS / "uneven.pt2", "--quantize",
                                             "bad.json", "-o", "n.pte"))
        bad = json.loads(json.dumps(good))
        bad["methods"]["forward"]["equalised"]["gone"] = method["equalised"][name]
        (self.folder / "bad.json").write_text(json.dumps(bad))
        self.assertIn("the record equalises 'gone', whose channels cannot be scaled",
                      self.refuses(1, "export", MODELS / "uneven.pt2", "--quantize", "bad.json",
                                   "-o", "n.pte"))

    def test_weights_by_name_are_equalised(self):
        self.quantized("uneven", "--equalise", "--weight-keys", "name", "--external-weights",
                       "m.ptd")
        self.done("data", "build", "--from", MODELS / "uneven.pt2", "--for", "m.pte", "-o",
                  "again.ptd")
        self.assertEqual(self.done("data", "list", "again.ptd"), self.done("data", "list", "m.ptd"))


if __name__ == "__main__":
    unittest.main()
