# SPDX-License-Identifier: Apache-2.0
"""A record of `petrel quantize` serves every export of its model, whoever it was made for."""

import json
import math
import pathlib
import unittest

import npy_file
from quantize_case import QuantizeCase

TESTDATA = pathlib.Path("extension/quantize/testdata").absolute()


class QuantizeRecordTest(QuantizeCase):
    def noise_of_whole(self, program):
        """Of its outputs beside those of eager torch, in dB."""
        made = self.outputs_of_samples(program, TESTDATA / "whole.samples.npy", (1, 1, 4, 8, 8))
        wanted = npy_file.read_elements(TESTDATA / "whole.outputs.npy")
        noise = sum((a - b) ** 2 for a, b in zip(wanted, made, strict=True))
        return 10 * math.log10(sum(a * a for a in wanted) / noise)

    def test_whoever_computes_takes_it(self):
        # Forms of operators differ: volumes, relu6, pixel_shuffle, attention with a mask.
        model, samples = TESTDATA / "whole.pt2", TESTDATA / "whole.samples.npy"
        records = []
        for made_for in ("xnnpack", "none"):
            self.done("quantize", model, "--calibrate", samples, "-o", "made.pte", "--record",
                      "q.json", "--backend", made_for, "--ranges", "min-max")
            records.append(json.loads((self.folder / "q.json").read_text())["methods"]["forward"])
            exports = {"xnnpack": ("--backend", "xnnpack"), "none": ("--backend", "none"),
                       "integer": ("--backend", "none", "--int8", "integer")}
            for other, words in exports.items():
                with self.subTest(made_for=made_for, other=other):
                    self.done("export", model, "--quantize", "q.json", "-o", "other.pte", *words)
                    self.assertGreater(self.noise_of_whole("other.pte"), 25)
                    if made_for == other:
                        self.assertEqual((self.folder / "made.pte").read_bytes(),
                                         (self.folder / "other.pte").read_bytes())
            self.done("gen-c", model, "--quantize", "q.json", "-o", f"c_{made_for}", "--name", "m")
        self.assertEqual(records[0]["values"].keys(), records[1]["values"].keys())

    def test_another_model_is_told_by_node(self):
        self.done("quantize", TESTDATA / "loud.pt2", "--calibrate", TESTDATA / "loud.samples.npy",
                  "-o", "a.pte", "--record", "q.json", "--ranges", "min-max")
        said = self.refuses(1, "export", TESTDATA / "whole.pt2", "--quantize", "q.json", "-o",
                            "b.pte")
        self.assertIn("the record has numbers for 'input', which is not a value of the graph; "
                      "it is of another model, or was made for a backend that has other operators "
                      "whole: then quantise the model for this one", said)


if __name__ == "__main__":
    unittest.main()
