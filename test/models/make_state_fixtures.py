#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes state/: archives of several methods of one module, with torch 2.13.

  state/decoder.prefill.pt2   methods of decoder.py's small model, its prompt,
  state/decoder.decode.pt2    and the 32 tokens and their logits that eager
  state/decoder.*.npy         torch generates greedily
  state/counter.add.pt2       adds its input to a total that starts at 1 2 3 4
  state/counter.read.pt2      returns ten times the total, has no inputs
  state/other.add.pt2         the counter of another module: starts at zeros
"""

import pathlib

import numpy as np
import torch
from torch import nn

import decoder
import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "state"
TOKENS = 32


class Total(nn.Module):
    def __init__(self, start: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("total", start)


class Add(nn.Module):
    def __init__(self, counter: Total) -> None:
        super().__init__()
        self.counter = counter

    def forward(self, x):
        self.counter.total.add_(x)
        return self.counter.total * 1.0


class Read(nn.Module):
    def __init__(self, counter: Total) -> None:
        super().__init__()
        self.counter = counter

    def forward(self):
        return self.counter.total * 10.0


def main() -> None:
    OUT.mkdir(exist_ok=True)

    def save(name, program):
        neutral_archive.save(program, OUT / f"{name}.pt2")

    for method, program in decoder.programs(decoder.SMALL).items():
        save(f"decoder.{method}", program)
    generation = decoder.generate(decoder.SMALL, TOKENS)
    for name in ("prompt", "tokens", "logits"):
        np.save(OUT / f"decoder.{name}.npy", getattr(generation, name).numpy())

    counter = Total(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    save("counter.add", torch.export.export(Add(counter), (torch.ones(4),)))
    save("counter.read", torch.export.export(Read(counter), ()))
    save("other.add", torch.export.export(Add(Total(torch.zeros(4))), (torch.ones(4),)))


if __name__ == "__main__":
    main()
