#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes portable/: programs whose numbers, names or outputs are hard to write as C.

  python3 make_portable_fixtures.py        (torch 2.13)

  NAME.pt2  NAME.input_I.npy  NAME.output_O.npy
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "portable"

# A double holds neither.
ODD = 2**53 + 1
LARGEST = torch.iinfo(torch.int64).max


class LargeIntegers(nn.Module):
    def forward(self, x, mask):
        padded = F.pad(x, (1, 1), value=ODD)
        return (x.masked_fill(mask, ODD), x.masked_fill(mask, LARGEST), x.clamp(max=ODD),
                x.clamp(min=-ODD), x.clamp(max=LARGEST), x.add(x, alpha=ODD),
                x.sub(x, alpha=LARGEST), torch.full_like(x, ODD) + x * 0, padded,
                x.masked_fill(mask, True))


class Repeated(nn.Module):
    """One result, and one input, returned several times."""

    def forward(self, x):
        y = x + 1
        return y, y, x, x, y


class KnownNumbers(nn.Module):
    """Outputs that are numbers, known when the model is exported."""

    def forward(self, x):
        return x * 2, 3, x.shape[0] + 2**40, 2.5, x, True


class Cases(nn.Module):
    """Names that differ in nothing but their case."""

    def forward(self, x, X):
        return x.sum() + X.sum()


class Bits(nn.Module):
    """The result is called xor, a word of C++."""

    def forward(self, a, b):
        return a ^ b


class Words(nn.Module):
    """Names that C, C++ or their headers have taken."""

    def __init__(self):
        super().__init__()
        self.default = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, linux, typeof):
        return linux * self.default + typeof


class FromOne(nn.Module):
    """Rows counted from 1: there is none for 0."""

    def forward(self, i, weight):
        return F.embedding(i - 1, weight)


class FromTen(nn.Module):
    """Rows counted from 10."""

    def forward(self, i, weight):
        return F.embedding(i - 10, weight)


class NothingReduced(nn.Module):
    def forward(self, x):
        return x.var(1), x.sum(1), x.mean(1)


class Cell(nn.Module):
    """Whose last output is an input of the next call."""

    def forward(self, x, h):
        h = torch.tanh(x * 0.5 + h)
        return (h * h).sum(0, keepdim=True), h


class Windows(nn.Module):
    """Convolutions and products of the shapes at which ways to compute them part."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(41)
        self.planes = nn.ModuleList([
            nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(6, 6, 3, stride=2, padding=1, bias=False),
            nn.Conv2d(6, 12, 3, padding=2, dilation=2, groups=3), nn.Conv2d(6, 5, (1, 4)),
            nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.Conv2d(6, 12, 5, 2, 2, groups=6),
            nn.Conv2d(6, 4, 1), nn.Conv2d(6, 3, 1, stride=3), nn.Conv2d(6, 4, 9, padding=8)])
        self.narrow = nn.ModuleList([
            nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1, groups=6)])
        self.line = nn.ModuleList([nn.Conv1d(4, 8, 3, padding=2), nn.Conv1d(4, 7, 5, stride=2)])
        self.odd = nn.Conv2d(6, 4, 3, padding=1)
        with torch.no_grad():
            self.odd.weight[0, 0, 0, 0] = float("inf")
            self.odd.weight[1, 2, 1, 2] = float("nan")
        self.wide = nn.Linear(9, 37)
        self.long = nn.Linear(70, 4)
        self.doubled = nn.Conv2d(2, 4, 3, padding=1).double()
        self.apart = nn.ModuleList([nn.Conv1d(4, 6, 4, 3, 3, 2), nn.Conv1d(4, 8, 1, 2)])
        self.to_line = nn.ModuleList([
            nn.Conv2d(6, 8, 3, padding=(0, 1)), nn.Conv2d(6, 5, (3, 2), (2, 2), (0, 2), (1, 3))])

    def forward(self, plane, narrow, line, rows, row, batch):
        doubles = plane[:, :2].double()
        return (*(layer(plane) for layer in self.planes),
                *(layer(narrow) for layer in self.narrow), *(layer(line) for layer in self.line),
                self.odd(plane), self.wide(rows), self.long(row), batch @ batch.transpose(1, 2),
                rows @ rows.t(), self.doubled(doubles), doubles[0, 0] @ doubles[0, 1],
                *(layer(line) for layer in self.apart), *(layer(narrow) for layer in self.to_line))


class Products(nn.Module):
    """Products of matrices with zeros, of many sizes, softmaxes of rows, and filters that no tile
    divides."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(47)
        self.few = nn.Linear(12, 128)
        self.square = nn.Linear(16, 40)
        self.deep = nn.Linear(300, 24)
        self.uneven = nn.Linear(100, 13)
        self.long = nn.Linear(1500, 16)
        self.row = nn.ModuleList([nn.Linear(64, 48), nn.Linear(64, 88, bias=False),
                                  nn.Linear(64, 320)])
        self.odd = nn.Linear(64, 16)
        with torch.no_grad():
            self.odd.weight[0, :32] = float("inf")
            self.odd.weight[9, 40] = float("nan")
        self.doubled = nn.Linear(64, 16).double()
        self.line = nn.ModuleList([
            nn.Conv1d(24, 24, 9, padding=4), nn.Conv1d(24, 17, 3, padding=1)])
        self.point = nn.Conv2d(24, 23, 1)

    def forward(self, few, square, deep, uneven, long, row, batch, line):
        relu = torch.relu
        seen = relu(row)
        products = batch @ batch.transpose(1, 2)
        return (self.few(relu(few)), self.square(square), self.deep(relu(deep)),
                self.uneven(relu(uneven)), self.long(relu(long)),
                *(layer(seen) for layer in self.row), self.odd(seen), self.odd(-seen),
                self.doubled(seen.double()), products, batch[:, :1] @ batch.transpose(1, 2),
                torch.addmm(few[:1, :8], row, deep[:1, :64].t() * row[:, :8], beta=0.5, alpha=2),
                torch.softmax(products, -1), torch.softmax(few[:7], -1), torch.softmax(row, -1),
                torch.softmax(long[:, :65], -1), torch.log_softmax(few, -1),
                *(layer(line) for layer in self.line), self.point(line.reshape(1, 24, 2, 4)))


class Planes(nn.Module):
    """Convolutions whose filters share no input, over planes of many sizes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(43)
        self.narrow = nn.ModuleList([
            nn.Conv2d(3, 3, 3, padding=1, groups=3), nn.Conv2d(3, 3, 3, 2, 1, groups=3),
            nn.Conv2d(3, 3, (5, 2), (3, 1), (2, 1), groups=3),
            nn.Conv2d(3, 3, 3, padding=3, dilation=(2, 3), groups=3, bias=False),
            nn.Conv2d(3, 3, 2, 3, groups=3), nn.Conv2d(3, 15, 3, padding=2, groups=3),
            nn.Conv2d(3, 3, (7, 5), groups=3), nn.Conv2d(3, 1, 3, (1, 2), 1),
            nn.Conv2d(3, 3, 3, (4, 2), 4, (2, 3), groups=3)])
        self.large = nn.ModuleList([
            nn.Conv2d(1, 1, 3, padding=1), nn.Conv2d(1, 1, 5, 2, 2), nn.Conv2d(1, 1, (1, 40), 3)])
        self.line = nn.ModuleList([nn.Conv1d(2, 2, 5, groups=2), nn.Conv1d(2, 1, 9, 4, 3)])
        self.odd = nn.Conv2d(3, 3, 3, 2, 1, groups=3)
        with torch.no_grad():
            self.odd.weight[0, 0, 0, 0] = float("inf")
            self.odd.weight[1, 0, 2, 2] = float("nan")
        self.doubled = nn.Conv2d(3, 3, 3, 2, 1, groups=3).double()
        self.transposed = nn.ModuleList([
            nn.ConvTranspose2d(3, 4, 3), nn.ConvTranspose2d(3, 6, (2, 4), (2, 3), (1, 2), groups=3),
            nn.ConvTranspose2d(3, 2, 3, 2, 1, 1, dilation=2, bias=False)])
        self.lengthened = nn.ConvTranspose1d(2, 1, 4, 3, 2)
        self.even = nn.ModuleList([
            nn.Conv2d(3, 3, (3, 5), padding=(1, 2), groups=3, bias=False),
            nn.Conv2d(3, 3, (4, 1), padding=(3, 0), dilation=(2, 1), groups=3),
            nn.Conv2d(3, 3, 3, padding=(0, 4), groups=3), nn.Conv2d(3, 3, 3, padding=1, groups=3)])
        with torch.no_grad():
            self.even[3].weight[0, 0, 1, 0] = float("-inf")
            self.even[3].weight[2, 0, 0, 1] = float("nan")
        self.even_doubled = nn.Conv2d(3, 3, 3, padding=1, groups=3).double()

    def forward(self, narrow, large, line):
        return (*(layer(narrow) for layer in self.narrow), *(layer(large) for layer in self.large),
                *(layer(line) for layer in self.line), self.odd(narrow),
                self.doubled(narrow.double()), *(layer(narrow) for layer in self.transposed),
                self.lengthened(line), *(layer(narrow) for layer in self.even),
                self.even_doubled(narrow.double()))


class Channels(nn.Module):
    """Convolutions of a filter for each of many channels, over small planes."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(44)
        self.narrow = nn.ModuleList([
            nn.Conv2d(11, 11, 3, padding=1, groups=11), nn.Conv2d(11, 11, 3, 2, 1, groups=11),
            nn.Conv2d(11, 11, (4, 1), (1, 3), groups=11, bias=False),
            nn.Conv2d(11, 11, (1, 5), (3, 1), (0, 4), groups=11),
            nn.Conv2d(11, 11, 3, 2, 3, (1, 2), groups=11), nn.Conv2d(11, 11, 5, 4, 2, groups=11),
            nn.Conv2d(11, 11, (9, 6), 1, (1, 1), groups=11)])
        self.wide = nn.ModuleList([
            nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 16, 2, 2, groups=16),
            nn.Conv2d(16, 16, 3, (3, 1), 0, (1, 5), groups=16)])
        self.line = nn.ModuleList([nn.Conv1d(9, 9, 3, groups=9), nn.Conv1d(9, 9, 4, 3, 2, groups=9)])
        self.few = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.odd = nn.Conv2d(11, 11, 3, 2, 1, groups=11)
        with torch.no_grad():
            self.odd.weight[0, 0, 0, 0] = float("inf")
            self.odd.weight[10, 0, 2, 2] = float("nan")
        self.doubled = nn.Conv2d(11, 11, 3, padding=1, groups=11).double()

    def forward(self, narrow, wide, line, few):
        return (*(layer(narrow) for layer in self.narrow), *(layer(wide) for layer in self.wide),
                *(layer(line) for layer in self.line), self.few(few), self.odd(narrow),
                self.doubled(narrow.double()))


class Images(nn.Module):
    """Inputs and outputs with channels: one of each type, returned again, as it came, and twice."""

    def forward(self, x, bits, line):
        y = torch.relu(x) + 1
        return y, (line * 2).sum(1), bits, y


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(42))


def cases():
    weight = torch.arange(12.0).reshape(4, 3)
    integers = torch.tensor([ODD, -2**62 - 1, 5, 2**62 + 3, 7, -ODD - 2])
    mask = torch.tensor([True, False, False, True, False, False])
    return {
        "large_integers": (LargeIntegers(), (integers, mask)),
        "repeated": (Repeated(), (torch.tensor([1.0, 2.0]),)),
        "known_numbers": (KnownNumbers(), (torch.tensor([1.0, 2.0]),)),
        "cases": (Cases(), (torch.tensor([1.0, 2.0]), torch.tensor([3.0]))),
        "bits": (Bits(), (torch.tensor([1, 2]), torch.tensor([3, 3]))),
        "words": (Words(), (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0]))),
        "from_one": (FromOne(), (torch.tensor([1, 4]), weight)),
        "from_ten": (FromTen(), (torch.tensor([10, 13]), weight)),
        "nothing_reduced": (NothingReduced(), (torch.zeros(2, 0),)),
        "cell": (Cell(), (torch.arange(8.0) / 8, torch.ones(8))),
        "windows": (Windows(), (numbers(2, 6, 15, 15), numbers(1, 6, 3, 4), numbers(2, 4, 21),
                                numbers(6, 9), numbers(1, 70), numbers(2, 3, 5))),
        "products": (Products(), (
            numbers(10, 12), numbers(16, 16), numbers(5, 300), numbers(9, 100), numbers(1, 1500),
            numbers(1, 64), numbers(3, 13, 24), numbers(1, 24, 8))),
        "channels": (Channels(), (numbers(2, 11, 9, 5), numbers(1, 16, 11, 13), numbers(2, 9, 31),
                                  numbers(1, 8, 2, 2))),
        "images": (Images(), (numbers(2, 3, 4, 5),
                              torch.arange(24, dtype=torch.uint8).reshape(1, 4, 3, 2),
                              numbers(2, 3, 7))),
        "planes": (Planes(), (numbers(2, 3, 19, 5), numbers(1, 1, 33, 300), numbers(1, 2, 700))),
    }


def main() -> None:
    OUT.mkdir(exist_ok=True)
    names = set(sys.argv[1:])  # none: all
    for name, (module, args) in cases().items():
        if names and name not in names:
            continue
        module.eval()
        with torch.no_grad():
            outputs = module(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        neutral_archive.save(torch.export.export(module, args), OUT / f"{name}.pt2")
        for kind, tensors in (("input", args), ("output", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(OUT / f"{name}.{kind}_{i}.npy", np.asarray(tensor))


if __name__ == "__main__":
    main()
