# SPDX-License-Identifier: Apache-2.0
"""Writes integer/: quantised models that need no floats, their inputs and eager outputs.

    python -B test/quantized/make_integer_programs.py     (torch 2.13.0, executorch 1.5.0)

keywords        a small DS-CNN: depthwise and pointwise convolutions over spectra
autoencoder     linear layers with a bottleneck
many            an operator of each kind, quantised by hand
shapes          convolutions of odd sizes
blocks_N        random networks of convolutions, depthwise and residual blocks, one image
"""

import os
import pathlib
import random

import numpy
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import export

from make_programs import pt2e  # puts test/models on the path
import neutral_archive
from torch.ao.quantization.fx import _decomposed  # noqa: F401, quantized_decomposed

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "integer")
OPS = torch.ops.quantized_decomposed


def block(channels):
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.BatchNorm2d(channels),
        nn.ReLU(), nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels), nn.ReLU())


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, (10, 4), stride=2, padding=(4, 1)),
                                   nn.BatchNorm2d(16), nn.ReLU())
        self.blocks = nn.Sequential(block(16), block(16))
        self.head = nn.Linear(16, 12)

    def forward(self, x):
        y = self.blocks(self.first(x))
        return self.head(F.avg_pool2d(y, (12, 5)).flatten(1))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = (40, 32, 32, 8, 32, 32, 40)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class Shapes(nn.Module):
    """Sizes that no kernel likes: odd channels, filters and places, strides, gaps and groups, two
    images at once, and values that are viewed otherwise."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, (3, 2), stride=(2, 1), padding=(1, 0))
        self.six = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.halves = nn.Conv2d(6, 8, 3, padding=1, groups=2)
        self.wide = nn.Conv2d(8, 8, (3, 5), stride=2, padding=(1, 2), groups=8)
        self.gaps = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.five = nn.Conv2d(8, 5, 1)
        self.seven = nn.Conv2d(5, 7, 3, padding=2, dilation=2)
        self.twelve = nn.Conv2d(7, 12, 2)
        self.line = nn.Conv1d(12, 9, 3, padding=1)
        self.last = nn.Linear(9, 6)

    def forward(self, x):
        x = F.relu(self.halves(F.relu(self.six(F.relu(self.first(x))))))
        x = F.relu(self.wide(x))
        x = F.relu(self.seven(F.relu(self.five(self.gaps(x) + x))))
        x = F.relu(self.twelve(F.max_pool2d(x, 3, 2, 1)))
        return self.last(F.relu(self.line(x.flatten(2))).mean(2))


class Levels(nn.Module):
    """Quantises with numbers for what it saw first."""

    numbers = None

    def forward(self, x):
        if self.numbers is None:
            low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
            scale = float(numpy.float32((high - low) / 255))
            self.numbers = scale, max(-128, min(127, -128 - round(low / scale)))
        q = OPS.quantize_per_tensor(x, *self.numbers, -128, 127, torch.int8)
        return OPS.dequantize_per_tensor(q, *self.numbers, -128, 127, torch.int8)


class Weight(nn.Module):
    """Channel by channel around 0, with a bias in steps of a product."""

    def __init__(self, *sizes):
        super().__init__()
        self.register_buffer("levels", torch.randint(-127, 128, sizes, dtype=torch.int8))
        self.register_buffer("scales", torch.rand(sizes[0]) * 0.004 + 0.001)
        self.register_buffer("bias", torch.randint(-500, 500, (sizes[0],), dtype=torch.int32))

    def forward(self, input_scale):
        weight = OPS.dequantize_per_channel(self.levels, self.scales, None, 0, -127, 127,
                                            torch.int8)
        return weight, OPS.dequantize_per_channel(self.bias, self.scales * input_scale, None, 0,
                                                  -2**31, 2**31 - 1, torch.int32)


class Many(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = Weight(4, 4, 3, 3), Weight(4, 1, 3, 3), Weight(6, 8, 3)
        self.last = Weight(5, 8)
        self.levels = nn.ModuleList(Levels() for _ in range(17))

    def forward(self, x):
        q = iter(self.levels)
        x0 = next(q)
        x = x0(x)
        scale = x0.numbers[0]
        weight, bias = self.one(scale)
        one = next(q)
        a = one(F.conv2d(x, weight, bias, padding=2, dilation=2))
        weight, bias = self.two(scale)
        b = next(q)(F.conv2d(x, weight, bias, padding=1, groups=4))
        c = next(q)(torch.sigmoid(b))
        d = next(q)(c * a)
        e = next(q)(F.avg_pool2d(d, 3, 2, 1, count_include_pad=False))
        f = next(q)(F.interpolate(e, size=(8, 8)) - a)
        pooled = F.max_pool2d(f, (3, 1), (1, 1), (1, 0))
        g = next(q)(torch.cat([f, F.pad(pooled[:, :, 1:], (0, 0, 1, 0))], 1))
        h = next(q)(F.adaptive_avg_pool2d(g, (3, 5)).flatten(2))
        i = next(q)(torch.bmm(h, h.transpose(1, 2)))
        j = next(q)(torch.softmax(i, 1))
        lines = next(q)
        weight, bias = self.three(h_scale(self.levels[8]))
        k = lines(F.conv1d(h, weight, bias, stride=2, padding=1))
        means = next(q)
        m = means(j.mean(1))
        weight, bias = self.last(h_scale(means))
        n = next(q)(F.relu(F.linear(m, weight, bias)))
        o = next(q)(k.mean(2))
        return next(q)(n + next(q)(F.hardswish(o[:, :5]) * 0.5))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1)
        is_alike = inputs == outputs and stride == 1
        self.skip = nn.Identity() if is_alike else nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.skip(x))


class Blocks(nn.Module):
    """Layers that the generator draws, on images of its sizes."""

    def __init__(self, draw):
        super().__init__()
        self.image = (1, draw.choice((1, 3, 4)), draw.randint(9, 20), draw.randint(7, 17))
        channels, layers = self.image[1], []
        for _ in range(6):
            kind = draw.choice(("convolution", "depthwise", "pointwise", "residual"))
            stride = draw.choice((1, 1, 2))
            outputs = draw.choice((5, 8, 12, 16))
            if kind == "depthwise" and channels > 1:
                outputs, size = channels, draw.choice((3, 5))
                layers.append(nn.Conv2d(channels, channels, size, stride, size // 2,
                                        groups=channels))
            elif kind == "pointwise":
                layers.append(nn.Conv2d(channels, outputs, 1))
            elif kind == "residual":
                outputs = draw.choice((channels, outputs))
                layers.append(Residual(channels, outputs, stride))
            else:
                size = (draw.choice((1, 3, 4)), draw.choice((2, 3)))
                layers.append(nn.Conv2d(channels, outputs, size, stride, (size[0] // 2, 1)))
            layers.append(nn.ReLU())
            channels = outputs
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(channels, 6)

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.layers(x), 1).flatten(1))


def h_scale(levels):
    return levels.numbers[0]


def save(name, model, inputs):
    with torch.no_grad():
        output = model(*inputs)
        neutral_archive.save(export(model, inputs), pathlib.Path(FOLDER, name + ".pt2"))
    numpy.save(os.path.join(FOLDER, name + ".input.npy"), inputs[0].numpy())
    numpy.save(os.path.join(FOLDER, name + ".output.npy"), output.contiguous().numpy())


def main():
    os.makedirs(FOLDER, exist_ok=True)
    torch.manual_seed(5)
    spectrum = (torch.randn(1, 1, 25, 10),)
    save("keywords", pt2e(Keywords().eval(), spectrum, is_per_channel=True), spectrum)
    rows = (torch.randn(2, 40),)
    save("autoencoder", pt2e(Autoencoder().eval(), rows, is_per_channel=True), rows)
    image = (torch.randn(1, 4, 8, 8),)
    save("many", Many().eval(), image)
    images = (torch.randn(2, 3, 19, 13),)
    save("shapes", pt2e(Shapes().eval(), images, is_per_channel=True), images)
    for seed in range(4):
        torch.manual_seed(seed)
        blocks = Blocks(random.Random(seed)).eval()
        image = (torch.randn(blocks.image),)
        save(f"blocks_{seed}", pt2e(blocks, image, is_per_channel=True), image)


if __name__ == "__main__":
    main()
