#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes net.pt2, a net that an NPU can run in parts only, all.pt2, which it runs as a whole, an
input of each, and what eager PyTorch makes of it.

  python3 make_net.py        (torch 2.13)
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "test/models"))

import neutral_archive  # noqa: E402


class Net(nn.Module):
    """A linear layer and a softmax for the processor; what scales and shifts for the NPU."""

    def __init__(self):
        super().__init__()
        self.front = nn.Linear(16, 32)
        self.gain = nn.Parameter(torch.rand(4, 32) + 0.5)
        self.offset = nn.Parameter(torch.randn(4, 32))
        self.back = nn.Parameter(torch.randn(4, 32))

    def forward(self, x):
        h = self.front(x)
        h = torch.relu(h * self.gain + self.offset) + h
        h = torch.softmax(h, dim=-1)
        return torch.relu(h + self.back) * h


class All(nn.Module):
    """What scales and shifts alone."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3, 8) + 0.5)

    def forward(self, x):
        return torch.relu(x * self.gain + x)


def write(name, net, x):
    neutral_archive.save(torch.export.export(net.eval(), (x,)), HERE / f"{name}.pt2")
    np.save(HERE / f"{name}.input.npy", x.numpy())
    np.save(HERE / f"{name}.output.npy", net(x).detach().numpy())


def main():
    torch.manual_seed(3)
    write("net", Net(), torch.randn(4, 16))
    write("all", All(), torch.randn(3, 8))


if __name__ == "__main__":
    main()
