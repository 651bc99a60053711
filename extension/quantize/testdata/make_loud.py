#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes loud.pt2: three linear layers, of which one scale for all shows one value badly.

One channel between the first and the second layer is 300 times as loud as the others, and
counts as much as they do. With samples, and eager torch's outputs and their largest places:

    PYTHONPATH=test/models python3 extension/quantize/testdata/make_loud.py
"""

import pathlib

import neutral_archive
import numpy as np
import torch
from torch import nn

OUT = pathlib.Path(__file__).resolve().parent
LOUDER = 300
SAMPLES = 128


def main() -> None:
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(),
                          nn.Linear(32, 10)).eval()
    with torch.no_grad():
        for layer in (model[0], model[2], model[4]):
            layer.weight.mul_(3)
        model[0].weight[5] *= LOUDER
        model[0].bias[5] *= LOUDER
        model[2].weight[:, 5] /= LOUDER
        samples = torch.randn(SAMPLES, 1, 16)
        outputs = torch.stack([model(sample) for sample in samples])
    neutral_archive.save(torch.export.export(model, (samples[0],)), OUT / "loud.pt2")
    np.save(OUT / "loud.samples.npy", samples.numpy())
    np.save(OUT / "loud.outputs.npy", outputs.numpy())
    np.save(OUT / "loud.labels.npy", outputs.argmax(-1).reshape(-1).numpy())


if __name__ == "__main__":
    main()
