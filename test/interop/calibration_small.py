# SPDX-License-Identifier: Apache-2.0
"""Small networks of many kinds with random weights, to be quantised beside the large ones.

  module, inputs = make("tokens_gru", 128)

What they are given is spread as inputs are: evenly, by Gauss, or with few numbers far out.
"""

import zlib
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn


class Tokens(nn.Module):
    """An embedding, a recurrent network, and a linear layer on its last state."""

    def __init__(self, cell: type, width: int = 64) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 32)
        self.cell, self.head = cell(32, width, batch_first=True), nn.Linear(width, 10)

    def forward(self, text):
        return self.head(self.cell(self.table(text))[0][:, -1])


class Signal(nn.Module):
    """A recurrent network over numbers, with a linear layer at every step."""

    def __init__(self, cell: type) -> None:
        super().__init__()
        self.cell, self.head = cell(12, 48, batch_first=True), nn.Linear(48, 5)

    def forward(self, x):
        return self.head(self.cell(x)[0])


def perceptron(*widths: int, activation: type = nn.ReLU) -> nn.Module:
    layers: list[nn.Module] = []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Linear(i, o), activation()]
    return nn.Sequential(*layers[:-1])


class Skip(nn.Module):
    """Residual layers with norms, as in networks for tables."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(20, 64), nn.Linear(64, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(3))
        self.ups = nn.ModuleList(nn.Linear(64, 128) for _ in range(3))
        self.downs = nn.ModuleList(nn.Linear(128, 64) for _ in range(3))

    def forward(self, x):
        x = self.first(x)
        for norm, up, down in zip(self.norms, self.ups, self.downs):
            x = x + down(F.relu(up(norm(x))))
        return self.last(x)


class Attends(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(200, 48)
        layer = nn.TransformerEncoderLayer(48, 4, 96, 0.0, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(48, 8)

    def forward(self, text):
        return self.head(self.layers(self.table(text)).mean(1))


class Convolves(nn.Module):
    """Convolutions with batch norms of spread factors, a mean and a linear layer."""

    def __init__(self, activation: type = nn.ReLU) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), activation(),
            nn.Conv2d(16, 16, 3, 1, 1, groups=16), nn.BatchNorm2d(16), activation(),
            nn.Conv2d(16, 32, 1), nn.BatchNorm2d(32), activation(),
            nn.Conv2d(32, 32, 3, 1, 1), nn.BatchNorm2d(32), activation())
        self.head = nn.Linear(32, 10)
        for norm in self.modules():
            if isinstance(norm, nn.BatchNorm2d):
                nn.init.uniform_(norm.weight, 0.3, 2)
                nn.init.normal_(norm.bias, 0, 0.3)
                nn.init.normal_(norm.running_mean, 0, 0.2)
                nn.init.uniform_(norm.running_var, 0.3, 1.5)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Waves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, 16, 9, 2, 4), nn.ELU(), nn.Conv1d(16, 24, 5, 2, 2),
                                  nn.ELU(), nn.Conv1d(24, 24, 3, 2, 1), nn.ELU())
        self.head = nn.Linear(24, 6)

    def forward(self, x):
        return self.head(self.body(x).amax(2))


class Code(nn.Module):
    """An image to a code and back."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1),
                                  nn.ReLU())
        self.up = nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(),
                                nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        return self.up(self.down(x))


def even(*size: int) -> torch.Tensor:
    return torch.rand(size) * 2 - 1


def tailed(*size: int, freedom: float = 3.0) -> torch.Tensor:
    return torch.distributions.StudentT(freedom).sample(size)


def tokens(count: int, length: int) -> torch.Tensor:
    return torch.randint(count, (1, length))


def smooth(*size: int) -> torch.Tensor:
    coarse = torch.randn(size[0], size[1], 5, 5)
    return F.interpolate(coarse, size[2:], mode="bicubic") + 0.1 * torch.randn(size)


# By name: the network, and what it is given.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "tokens_gru": (lambda: Tokens(nn.GRU), lambda: tokens(100, 12)),
    "tokens_lstm": (lambda: Tokens(nn.LSTM), lambda: tokens(100, 12)),
    "signal_gru": (lambda: Signal(nn.GRU), lambda: torch.randn(1, 20, 12)),
    "mlp_relu": (lambda: perceptron(16, 64, 64, 10), lambda: torch.randn(1, 16)),
    "mlp_gelu": (lambda: perceptron(16, 64, 64, 10, activation=nn.GELU),
                 lambda: torch.randn(1, 16)),
    "mlp_tanh": (lambda: perceptron(32, 128, 128, 4, activation=nn.Tanh), lambda: even(1, 32)),
    "mlp_deep": (lambda: perceptron(24, 96, 96, 96, 96, 3), lambda: even(4, 24)),
    "tailed_relu": (lambda: perceptron(16, 64, 64, 10), lambda: tailed(1, 16)),
    "tailed_gelu": (lambda: perceptron(32, 64, 64, 8, activation=nn.GELU),
                    lambda: tailed(1, 32, freedom=2.5)),
    "tailed_images": (Convolves, lambda: tailed(1, 3, 24, 24)),
    "skip": (Skip, lambda: torch.randn(1, 20)),
    "attends": (Attends, lambda: tokens(200, 16)),
    "convolves": (Convolves, lambda: smooth(1, 3, 32, 32)),
    "convolves_silu": (lambda: Convolves(nn.SiLU), lambda: smooth(1, 3, 32, 32)),
    "waves": (Waves, lambda: torch.randn(1, 1, 128).cumsum(2) * 0.2),
    "code": (Code, lambda: smooth(1, 1, 16, 16)),
}


def make(name: str, count: int) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """A network, and as many inputs."""
    network, given = NETWORKS[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    module = network().eval()
    return module, [(given(),) for _ in range(count)]
