# SPDX-License-Identifier: Apache-2.0
"""Writes the small archives that the reader's tests need beyond those of
test/models: regions, views of parameters, writes to inputs. Run with torch
2.13 in this folder."""

import torch
from torch import nn


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


def save(name, module, *args):
    program = torch.export.export(module.eval(), args)
    torch.export.save(program, name + ".pt2")


def main():
    torch.manual_seed(5)
    x = torch.ones(2, 3)
    save("no_grad", NoGrad(), x)
    save("autocast_on", Autocast(True), x)
    save("autocast_off", Autocast(False), x)
    save("views", Views(), torch.zeros(4, 2, 3))
    save("writes_input", WritesInput(), x)
    save("writes_state", WritesState(), torch.ones(2))


main()
