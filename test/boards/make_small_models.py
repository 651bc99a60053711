# SPDX-License-Identifier: Apache-2.0
"""Writes models/: the keyword model and an autoencoder of MLPerf Tiny's shapes for the smallest
boards, quantised to 8 bits with random weights, with an input and the output of eager PyTorch.

    python -B test/boards/make_small_models.py     (torch 2.13.0, executorch 1.5.0)

keywords        DS-CNN: 49 x 10 features, four blocks of 64 channels, 12 words
autoencoder     640 numbers, layers of 48 and a bottleneck of 8: 74 KB of weights
"""

import os
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import export

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "quantized"))
from make_programs import pt2e  # noqa: E402, puts test/models on the path
import neutral_archive  # noqa: E402
from torch.ao.quantization.fx import _decomposed  # noqa: E402, F401, quantized_decomposed

FOLDER = HERE / "models"


def block(channels):
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.BatchNorm2d(channels),
        nn.ReLU(), nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels), nn.ReLU())


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 64, (10, 4), stride=2, padding=(5, 1)),
                                   nn.BatchNorm2d(64), nn.ReLU())
        self.blocks = nn.Sequential(*(block(64) for _ in range(4)))
        self.head = nn.Linear(64, 12)

    def forward(self, x):
        y = self.blocks(self.first(x))
        return self.head(F.avg_pool2d(y, tuple(y.shape[2:])).flatten(1))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = (640, 48, 48, 48, 8, 48, 48, 48, 640)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


def save(name, model, shape):
    torch.manual_seed(7)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    x = torch.randn(shape)
    quantised = pt2e(model.eval(), (x,), is_per_channel=True)
    neutral_archive.save(export(quantised, (x,)), FOLDER / f"{name}.pt2")
    numpy.save(FOLDER / f"{name}.input.npy", x.numpy())
    numpy.save(FOLDER / f"{name}.output.npy", quantised(x).detach().numpy())


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    torch.manual_seed(5)
    save("keywords", Keywords(), (1, 1, 49, 10))
    save("autoencoder", Autoencoder(), (1, 640))
