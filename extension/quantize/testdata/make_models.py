#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models that quantise badly, with samples and eager torch's outputs of them.

loud         three linear layers. One channel between the first and the second is 300 times
             as loud as the others, and counts as much as they do. With the largest places
             of the outputs as labels.
activations  convolutions with activations that XNNPACK has no node of integers for, or has tables
             for, and with constants as operands.
correlated   three linear layers of inputs that six numbers decide, but for a little noise.
             Samples to calibrate with, and others to try.
uneven       blocks of depthwise and pointwise convolutions whose channels are up to 1000 times
             and more as loud as each other, and count as much. Others to try.
cell         a recurrent cell of eight steps, and a layer that reads them.
led          a layer with relu in front of a recurrent cell of four steps.
seldom       convolutions over time. Of the samples some, at odd places, are far louder than the
             rest.
whole        a convolution of volumes, relu6, pixel_shuffle and attention with a mask, which
             backends and kernels have in different forms.

    PYTHONPATH=test/models python3 extension/quantize/testdata/make_models.py
"""

import pathlib

import neutral_archive
import numpy as np
import torch
from torch import nn

OUT = pathlib.Path(__file__).resolve().parent
LOUDER = 300
CAUSES = 6


def save(name: str, model: nn.Module, samples: dict[str, torch.Tensor]) -> torch.Tensor:
    """The outputs of the last samples, which are written beside them."""
    first = next(iter(samples.values()))
    neutral_archive.save(torch.export.export(model, (first[0],)), OUT / f"{name}.pt2")
    for kind, tensors in samples.items():
        np.save(OUT / f"{name}.{kind}.npy", tensors.numpy())
    with torch.no_grad():
        outputs = torch.stack([model(sample) for sample in tensors])
    np.save(OUT / f"{name}.outputs.npy", outputs.numpy())
    return outputs


def loud() -> None:
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(),
                          nn.Linear(32, 10)).eval()
    with torch.no_grad():
        for layer in (model[0], model[2], model[4]):
            layer.weight.mul_(3)
        model[0].weight[5] *= LOUDER
        model[0].bias[5] *= LOUDER
        model[2].weight[:, 5] /= LOUDER
    outputs = save("loud", model, {"samples": torch.randn(128, 1, 16)})
    np.save(OUT / "loud.labels.npy", outputs.argmax(-1).reshape(-1).numpy())


def correlated() -> None:
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(),
                          nn.Linear(64, 32)).eval()
    mix = torch.randn(CAUSES, 64)

    def samples(count: int) -> torch.Tensor:
        return torch.randn(count, 4, CAUSES) @ mix + 0.05 * torch.randn(count, 4, 64)

    save("correlated", model, {"samples": samples(64), "others": samples(32)})


class Activations(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.gate = nn.Conv2d(8, 8, 1)
        self.last = nn.Linear(8, 10)
        self.scale = nn.Parameter(torch.rand(1, 8, 1, 1) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.silu(self.first(x))
        x = nn.functional.gelu(self.second(x)) * self.scale
        x = x * nn.functional.hardsigmoid(self.gate(x)) + 0.25
        x = nn.functional.elu(x / 1.5 - 0.5)
        return self.last(x.mean((2, 3)))


def activations() -> None:
    torch.manual_seed(9)
    model = Activations().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    save("activations", model, {"samples": torch.randn(32, 1, 3, 8, 8)})


def uneven() -> None:
    torch.manual_seed(10)
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1, groups=16),
              nn.Conv2d(16, 24, 1), nn.Conv2d(24, 24, 3, padding=1, groups=24),
              nn.Conv2d(24, 10, 1)]
    with torch.no_grad():
        for layer in layers:
            layer.weight.mul_(2)
        for first, second in zip(layers, layers[1:]):
            loudness = 10 ** torch.linspace(-1.6, 1.6, first.out_channels)
            loudness = loudness[torch.randperm(first.out_channels)]
            first.weight.mul_(loudness.reshape(-1, 1, 1, 1))
            first.bias.mul_(loudness)
            by_input = (-1, 1, 1, 1) if second.groups > 1 else (1, -1, 1, 1)
            second.weight.div_(loudness.reshape(by_input))
    steps = [step for layer in layers for step in (layer, nn.ReLU())]
    model = nn.Sequential(*steps[:-1], nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    save("uneven", model, {"samples": torch.randn(32, 1, 3, 12, 12),
                           "others": torch.randn(32, 1, 3, 12, 12)})


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRU(8, 16, batch_first=True)
        self.last = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.cell(x)[0])


def cell() -> None:
    torch.manual_seed(12)
    save("cell", Cell().eval(), {"samples": torch.randn(32, 1, 8, 8)})


class Led(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.cell = nn.Linear(6, 8), nn.GRU(8, 8, batch_first=True)
        self.last = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.cell(torch.relu(self.first(x)))[0])


def led() -> None:
    torch.manual_seed(14)
    save("led", Led().eval(), {"samples": torch.randn(16, 1, 4, 6)})


def seldom() -> None:
    torch.manual_seed(11)
    model = nn.Sequential(nn.Conv1d(4, 16, 5, padding=2), nn.LeakyReLU(0.1),
                          nn.Conv1d(16, 16, 3, padding=1), nn.LeakyReLU(0.1),
                          nn.Conv1d(16, 8, 3, padding=1)).eval()
    samples = torch.randn(32, 1, 4, 64)
    samples[[9, 21, 27]] *= 8
    neutral_archive.save(torch.export.export(model, (samples[0],)), OUT / "seldom.pt2")
    np.save(OUT / "seldom.samples.npy", samples.numpy())


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.volume, self.image = nn.Conv3d(1, 4, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
        self.last, self.rows, self.head = nn.Conv2d(4, 4, 3), nn.Linear(196, 24), nn.Linear(8, 5)
        self.register_buffer("mask", torch.ones(4, 4, dtype=torch.bool).tril())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.relu6(self.volume(x))
        x = nn.functional.pixel_shuffle(self.image(x.flatten(1, 2)), 2)
        q, k, v = self.rows(self.last(x).flatten(2)).unsqueeze(1).chunk(3, -1)
        return self.head(nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=self.mask))


def whole() -> None:
    torch.manual_seed(13)
    save("whole", Whole().eval(), {"samples": 3 * torch.randn(16, 1, 1, 4, 8, 8)})


if __name__ == "__main__":
    whole()
    cell()
    led()
    seldom()
    uneven()
    loud()
    activations()
    correlated()
