# SPDX-License-Identifier: Apache-2.0
"""Writes programs/: networks of half precision as archives and as programs of the ExecuTorch
1.5.0 wheel, with inputs and outputs.

    python3 test/half/make_programs.py       (torch 2.13.0, executorch 1.5.0)

NAME.pt2           the archive, saved in half
NAME.pte           what the wheel lowers to XNNPACK
NAME.input.npy     f16
NAME.output.npy    f32: what eager torch computes of the same weights and input in floats
NAME.eager.npy     f16: eager torch in half
NAME.wheel.npy     f16: the wheel's runtime
"""
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import nn
from torch.export import export

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import neutral_archive  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"


class Image(nn.Module):
    """All that a small vision network has."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16, stride=2)
        self.point = nn.Conv2d(16, 24, 1)
        self.up = nn.ConvTranspose2d(24, 8, 2, stride=2)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        y = F.hardswish(self.norm(self.conv(x)))
        z = self.point(F.relu6(self.depthwise(y)))
        z = F.max_pool2d(z + torch.sigmoid(z), 2)
        z = F.avg_pool2d(F.leaky_relu(self.up(z), 0.1), 2)
        z = torch.cat([z, F.pad(z, (0, 0, 0, 0), value=0.0) * 0.5], 1)[:, :8]
        return self.head(z.mean((2, 3)))


class Words(nn.Module):
    """A block of a transformer."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.query = nn.Linear(32, 32)
        self.key = nn.Linear(32, 32, bias=False)
        self.value = nn.Linear(32, 32)
        self.up = nn.Linear(32, 64)
        self.gate = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x):
        y = self.norm(x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / 32 ** 0.5
        x = x + torch.softmax(scores, -1) @ self.value(y)
        return x + self.down(F.silu(self.gate(x)) * torch.tanh(self.up(x)) + F.gelu(self.up(x)))


class Cell(nn.Module):
    """Two steps of an LSTM, whose tanh reads what another one made."""

    def __init__(self):
        super().__init__()
        self.inputs, self.state = nn.Linear(10, 96), nn.Linear(24, 96)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], 24, dtype=x.dtype)
        for step in range(2):
            i, f, g, o = (self.inputs(x[:, step]) + self.state(h)).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h


def save(name, model, x):
    path = FOLDER / name
    model.eval().half()
    x = x.half()
    program = export(model, (x,))
    neutral_archive.save(program, path.with_suffix(".pt2"))
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    graph = edge.exported_program().graph
    print(name, [str(node.target) for node in graph.nodes if node.op == "call_function"])
    path.with_suffix(".pte").write_bytes(edge.to_executorch().buffer)
    numpy.save(f"{path}.input.npy", x.numpy())
    with torch.no_grad():
        numpy.save(f"{path}.eager.npy", model(x).numpy())
        numpy.save(f"{path}.output.npy", model.float()(x.float()).numpy())
    method = Runtime.get().load_program(path.with_suffix(".pte")).load_method("forward")
    numpy.save(f"{path}.wheel.npy", method.execute([x])[0].numpy())


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(20261123)
    image = Image()
    with torch.no_grad():
        image.norm.running_mean.uniform_(-0.3, 0.3)
        image.norm.running_var.uniform_(0.5, 1.5)
    save("image", image, torch.randn(1, 3, 16, 16))
    save("words", Words(), torch.randn(2, 7, 32))
    save("cell", Cell(), 2 * torch.randn(16, 2, 10))


if __name__ == "__main__":
    main()
