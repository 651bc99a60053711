#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes portable/: programs whose numbers, names or outputs are hard to write as C.

  python3 make_portable_fixtures.py        (torch 2.13)

  NAME.pt2  NAME.input_I.npy  NAME.output_O.npy
"""

import pathlib

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


def cases():
    weight = torch.arange(12.0).reshape(4, 3)
    integers = torch.tensor([ODD, -2**62 - 1, 5, 2**62 + 3, 7, -ODD - 2])
    mask = torch.tensor([True, False, False, True, False, False])
    return {
        "large_integers": (LargeIntegers(), (integers, mask)),
        "repeated": (Repeated(), (torch.tensor([1.0, 2.0]),)),
        "cases": (Cases(), (torch.tensor([1.0, 2.0]), torch.tensor([3.0]))),
        "bits": (Bits(), (torch.tensor([1, 2]), torch.tensor([3, 3]))),
        "words": (Words(), (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0]))),
        "from_one": (FromOne(), (torch.tensor([1, 4]), weight)),
        "from_ten": (FromTen(), (torch.tensor([10, 13]), weight)),
        "nothing_reduced": (NothingReduced(), (torch.zeros(2, 0),)),
        "cell": (Cell(), (torch.arange(8.0) / 8, torch.ones(8))),
    }


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name, (module, args) in cases().items():
        module.eval()
        with torch.no_grad():
            outputs = module(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        neutral_archive.save(torch.export.export(module, args), OUT / f"{name}.pt2")
        for kind, tensors in (("input", args), ("output", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(OUT / f"{name}.{kind}_{i}.npy", tensor.numpy())


if __name__ == "__main__":
    main()
