# SPDX-License-Identifier: Apache-2.0
"""Writes the small archives that the reader's tests need beyond those of
test/models: regions, views of parameters, writes to inputs. Run with torch
2.13 in this folder."""

import math
import pathlib
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "test" / "models"))

import neutral_archive


class NoGrad(nn.Module):
    """A region under torch.no_grad() that gives two tensors."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.layer(x)
            z = y * 2
        return y + z


class Autocast(nn.Module):
    """A region whose dtypes change under autocast."""

    def __init__(self, enabled):
        super().__init__()
        self.enabled = enabled
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.enabled):
            y = self.layer(x)
        return y + 1


class NumbersInRegion(nn.Module):
    """A region that takes a size and a number of data, and gives a size that it computes."""

    def forward(self, x, n):
        rows = x.shape[0]
        last = n.item()
        torch._check(0 <= last)
        torch._check(last < 3)
        with torch.autocast("cpu", enabled=False):
            y = x.reshape(1, rows, 3) * last
            twice = rows * 2
        return y, x.new_ones(twice) * last


class Promotes(nn.Module):
    """A call about types that nothing reads: its result is a number of the tracer."""

    def forward(self, x):
        return x.to(torch.promote_types(x.dtype, torch.float64))


class Views(nn.Module):
    """Parameters and buffers that are views: permuted, expanded, offset."""

    def __init__(self):
        super().__init__()
        base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
        self.permuted = nn.Parameter(base.permute(2, 0, 1))
        self.register_buffer("expanded", torch.tensor([5.0]).expand(4, 2, 3))
        self.register_buffer("tail", torch.arange(8.0)[5:])

    def forward(self, x):
        return x + self.permuted + self.expanded + self.tail


class WritesInput(nn.Module):
    """An input that is written through a view, before functionalisation."""

    def forward(self, x):
        x.view(-1).add_(1)
        return x * 2


class WritesState(nn.Module):
    """A buffer that is written through a view of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.register_buffer("kept", torch.ones(4))

    def forward(self, x):
        self.seen[1:3].copy_(x)
        return self.seen + self.kept


class SharedState(nn.Module):
    """A buffer that is written, and another one that is a part of it, or beside it."""

    def __init__(self, first):
        super().__init__()
        base = torch.arange(6.0)
        self.register_buffer("written", base[:4])
        self.register_buffer("read", base[first:])

    def forward(self, x):
        self.written.add_(x)
        return self.read * 1


class StridedView(nn.Module):
    """Strides that count in memory which is not in the order of sizes."""

    def forward(self, x):
        return x.t().as_strided((2, 2), (1, 3))


class StridedRows(nn.Module):
    """Strides that count from where a view begins, and from where its memory does."""

    def __init__(self, offset):
        super().__init__()
        self.offset = offset

    def forward(self, x):
        return x[1:].as_strided((2, 2), (4, 1), self.offset)



class NonZero(nn.Module):
    """A result whose size depends on data."""

    def forward(self, x):
        return torch.nonzero(x)


class Mask(nn.Module):
    """Another one, by indexing."""

    def forward(self, x):
        return x[x > 0]


class Inverse(nn.Module):
    """A check, to which decompositions give a token."""

    def forward(self, x):
        return torch.linalg.inv(x) * 2


class ScaledSizes(nn.Module):
    """A number that a function of Python makes of a size."""

    def forward(self, x):
        n = x.shape[0]
        return x.new_zeros(math.trunc(n * 1.5))


def save(name, module, *args, decompose=False, dynamic=None):
    program = torch.export.export(module.eval(), args, dynamic_shapes=dynamic)
    if decompose:
        program = program.run_decompositions()
    neutral_archive.save(program, name + ".pt2")


def main():
    torch.manual_seed(5)
    x = torch.ones(2, 3)
    save("no_grad", NoGrad(), x)
    save("autocast_on", Autocast(True), x)
    save("autocast_off", Autocast(False), x)
    save("numbers_in_region", NumbersInRegion(), torch.ones(4, 3), torch.tensor(1),
         dynamic=({0: torch.export.Dim("n", min=2, max=8)}, {}))
    save("views", Views(), torch.zeros(4, 2, 3))
    save("writes_input", WritesInput(), x)
    save("writes_state", WritesState(), torch.ones(2))
    save("shared_state", SharedState(3), torch.ones(4))
    save("state_beside", SharedState(4), torch.ones(4))
    square = torch.arange(16.0).view(4, 4)
    save("strided_view", StridedView(), square)
    save("strided_rows", StridedRows(None), square)
    save("strided_memory", StridedRows(1), square)
    save("nonzero", NonZero(), x)
    save("mask", Mask(), x)
    save("promotes", Promotes(), x)
    save("checked_inverse", Inverse(), torch.eye(3), decompose=True)
    save("scaled_sizes", ScaledSizes(), x, dynamic=({0: torch.export.Dim("n", max=8)},))


main()
