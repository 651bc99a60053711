# SPDX-License-Identifier: Apache-2.0
"""Writes wheel/: programs that the ExecuTorch 1.5.0 wheel lowered to XNNPACK,
with inputs and what eager PyTorch makes of them.

    python3 make_wheel_programs.py       (torch 2.13.0, executorch 1.5.0)

NAME.pte, NAME.input_I.npy, NAME.output_I.npy; batch.pte takes 1 to 8 rows and
has a second pair of arrays for another number of rows.
"""
import os

import numpy
import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.utils.configs import get_transform_passes
from executorch.exir import to_edge_transform_and_lower
from torch import nn
from torch.export import Dim, export

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheel")
torch.manual_seed(5)


class Image(nn.Module):
    """Nodes that work on images."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.slope = nn.PReLU(8)
        self.norm.running_mean.uniform_(-0.5, 0.5)
        self.norm.running_var.uniform_(0.5, 1.5)

    def forward(self, x):
        y = F.relu6(self.norm(self.conv(x)))
        y = y + F.hardswish(self.depthwise(y))
        p = F.max_pool2d(y, 2)
        q = F.avg_pool2d(y, 2)
        z = torch.cat([p, q], 1)[:, 2:10]
        z = F.pad(self.slope(z), (1, 1, 1, 1))
        u = self.up(F.leaky_relu(z, 0.1))
        r = F.interpolate(u, size=(9, 7), mode="bilinear", align_corners=False)
        m = torch.mean(y, [2, 3], keepdim=True)
        return r, torch.sigmoid(m) * y


class Tokens(nn.Module):
    """Nodes that work on matrices."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(12, 12)
        self.k = nn.Linear(12, 12, bias=False)
        self.out = nn.Linear(12, 5)

    def forward(self, x):
        q, k = self.q(x), self.k(x)
        a = torch.softmax(torch.bmm(q, k.permute(0, 2, 1)) / 3.5, -1)
        h = F.gelu(torch.bmm(a, x)) - torch.tanh(x)
        h = torch.clamp(torch.maximum(h, -h), max=2.0)
        s = torch.sqrt(torch.abs(h)) * torch.exp(-h) + torch.floor(x) + torch.ceil(h)
        return self.out(s), (s * s).reshape(-1, 24)


class Batch(nn.Module):
    """Takes any number of rows."""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(6, 10)
        self.two = nn.Linear(10, 3)

    def forward(self, x):
        return self.two(F.relu(self.one(x)))


def save_arrays(name, model, inputs):
    with torch.no_grad():
        outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for i, tensor in enumerate(tensors):
            path = os.path.join(FOLDER, "%s.%s_%d.npy" % (name, kind, i))
            numpy.save(path, tensor.contiguous().numpy())


def save_program(name, program):
    edge = to_edge_transform_and_lower(
        program, partitioner=[XnnpackPartitioner()], transform_passes=get_transform_passes())
    with open(os.path.join(FOLDER, name + ".pte"), "wb") as file:
        file.write(edge.to_executorch().buffer)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, model, inputs in (
        ("image", Image().eval(), (torch.rand(1, 3, 10, 8) * 4 - 2,)),
        ("tokens", Tokens().eval(), (torch.rand(2, 4, 12) * 4 - 2,)),
    ):
        save_arrays(name, model, inputs)
        save_program(name, export(model, inputs))

    batch = Batch().eval()
    rows = torch.rand(8, 6) * 2 - 1
    save_arrays("batch", batch, (rows,))
    save_arrays("batch.other", batch, (torch.rand(3, 6) * 2 - 1,))
    save_program("batch", export(batch, (rows,),
                                 dynamic_shapes={"x": {0: Dim("rows", min=1, max=8)}}))


if __name__ == "__main__":
    main()
