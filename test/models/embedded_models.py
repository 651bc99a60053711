# SPDX-License-Identifier: Apache-2.0
"""Networks that firmware runs, with random weights, and one that phones run.

  model = EMBEDDED["ds_cnn"]()   # a Model, as in models.py

Those of MLPerf Tiny are autoencoder, ds_cnn, resnet8, mobilenet_v1 and wake_word: anomalies,
keywords, images, persons, a word that wakes.
Statistics of batch norms are taken from one batch, so that activations stay of
one size through all layers.
"""

from typing import Callable

import torch
from torch import nn

from models import Model, digits


def _settled(module: nn.Module, *shape: int) -> Model:
    for child in module.modules():
        if isinstance(child, nn.BatchNorm1d | nn.BatchNorm2d):
            child.momentum = 1.0
    with torch.no_grad():
        module.train()(torch.randn(16, *shape))
    return Model(module.eval(), [(torch.randn(1, *shape),) for _ in range(2)])


def _conv(inputs: int, outputs: int, kernel: int | tuple[int, int], stride: int | tuple[int, int] = 1,
          padding: int | tuple[int, int] = 0, groups: int = 1,
          act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(outputs), act())


def autoencoder() -> Model:
    """640-128-128-128-128-8-128-128-128-128-640: 264,192 multiply-adds."""
    torch.manual_seed(31)
    widths = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128]
    layers: list[nn.Module] = []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU()]
    return _settled(nn.Sequential(*layers, nn.Linear(128, 640)), 640)


def ds_cnn() -> Model:
    """Depthwise-separable convolutions over 49 frames of 10 features."""
    torch.manual_seed(32)
    layers: list[nn.Module] = [_conv(1, 64, (10, 4), (2, 2), (5, 1))]
    for _ in range(4):
        layers += [_conv(64, 64, 3, padding=1, groups=64), _conv(64, 64, 1)]
    return _settled(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                  nn.Linear(64, 12)), 1, 49, 10)


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = _conv(inputs, outputs, 3, stride, 1)
        self.second = _conv(outputs, outputs, 3, 1, 1, act=nn.Identity)
        self.skip = (nn.Identity() if stride == 1 and inputs == outputs
                     else nn.Conv2d(inputs, outputs, 1, stride))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.second(self.first(x)) + self.skip(x))


def resnet8() -> Model:
    """Three residual blocks on images of 32 by 32."""
    torch.manual_seed(33)
    return _settled(nn.Sequential(
        _conv(3, 16, 3, padding=1), Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)), 3, 32, 32)


def mobilenet_v1() -> Model:
    """A quarter as wide, on images of 96 by 96: 7,489,664 multiply-adds."""
    torch.manual_seed(35)
    layers: list[nn.Module] = [_conv(3, 8, 3, 2, 1)]
    channels = 8
    for outputs, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1),
                            (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)]:
        layers += [_conv(channels, channels, 3, stride, 1, groups=channels),
                   _conv(channels, outputs, 1)]
        channels = outputs
    return _settled(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                  nn.Linear(256, 2)), 3, 96, 96)


def wake_word() -> Model:
    """A word in 30 frames of 40 features, along time only: 826,368 multiply-adds."""
    torch.manual_seed(36)
    layers: list[nn.Module] = []
    channels = 40
    for taps in (3, 5, 10):
        layers += [_conv(channels, channels, (taps, 1), groups=channels), _conv(channels, 128, 1)]
        channels = 128
    return _settled(nn.Sequential(
        *layers, _conv(128, 128, (15, 1), groups=128), nn.Flatten(), nn.Linear(128, 32), nn.ReLU(),
        nn.Linear(32, 3)), 40, 30, 1)


def sensor() -> Model:
    """Three layers on what a few sensors say: 6,656 multiply-adds."""
    torch.manual_seed(37)
    return _settled(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                                  nn.Linear(64, 8)), 32)


def gesture() -> Model:
    """Small separable convolutions over 25 frames of 10 features: 63,984 multiply-adds."""
    torch.manual_seed(38)
    return _settled(nn.Sequential(
        _conv(1, 16, (5, 3), 2, 1), _conv(16, 16, 3, padding=1, groups=16), _conv(16, 24, 1),
        _conv(24, 24, 3, 2, 1, groups=24), _conv(24, 32, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(32, 6)), 1, 25, 10)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.GRU(16, 32, batch_first=True)
        self.score = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.score(self.cells(x)[0][:, -1])


def recurrent() -> Model:
    """A GRU over 8 frames: 36,992 multiply-adds."""
    torch.manual_seed(39)
    return _settled(Recurrent(), 8, 16)


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(12, 32, batch_first=True)
        self.score = nn.Linear(32, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.score(self.cells(x)[0][:, -1]), -1)


def lstm() -> Model:
    """An LSTM over 10 frames: 56,480 multiply-adds."""
    torch.manual_seed(40)
    return _settled(Gated(), 10, 12)


def shapes() -> Model:
    """Two 3x3 convolutions with max pools on images of 16 by 16: 94,720 multiply-adds."""
    torch.manual_seed(41)
    return _settled(nn.Sequential(
        _conv(1, 8, 3, padding=1), nn.MaxPool2d(2), _conv(8, 16, 3, padding=1), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 10)), 1, 16, 16)


class Along(nn.Module):
    """Two convolutions along time beside a shorter way."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(inputs, outputs, 9, 2, 4, bias=False),
                                   nn.BatchNorm1d(outputs), nn.ReLU())
        self.second = nn.Sequential(nn.Conv1d(outputs, outputs, 9, 1, 4, bias=False),
                                    nn.BatchNorm1d(outputs))
        self.skip = nn.Conv1d(inputs, outputs, 1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.second(self.first(x)) + self.skip(x))


def keyword() -> Model:
    """Residual convolutions along 32 frames of 20 features: 262,944 multiply-adds."""
    torch.manual_seed(42)
    return _settled(nn.Sequential(
        nn.Conv1d(20, 16, 3, padding=1, bias=False), nn.BatchNorm1d(16), nn.ReLU(),
        Along(16, 24), Along(24, 24), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        nn.Linear(24, 12)), 20, 32)


class Attends(nn.Module):
    """One block of a transformer, its norms first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.mixed = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(),
                                  nn.Linear(2 * width, width))
        self.score = nn.Linear(width, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = (t.reshape(n, length, self.heads, -1).transpose(1, 2)
                   for t in self.mixed(self.norms[0](x)).chunk(3, -1))
        seen = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.joined(seen.transpose(1, 2).reshape(n, length, width))
        return self.score((x + self.wide(self.norms[1](x))).mean(1))


def transformer() -> Model:
    """One block over 16 tokens of 32 numbers, two heads: 147,648 multiply-adds."""
    torch.manual_seed(43)
    return _settled(Attends(32, 2), 16, 32)


class Inverted(nn.Module):
    """Wide inside: 1x1 out, 3x3 per channel, 1x1 back."""

    def __init__(self, inputs: int, outputs: int, stride: int, widening: int) -> None:
        super().__init__()
        inner = inputs * widening
        layers = [_conv(inputs, inner, 1, act=nn.ReLU6)] if widening > 1 else []
        self.body = nn.Sequential(
            *layers, _conv(inner, inner, 3, stride, 1, groups=inner, act=nn.ReLU6),
            _conv(inner, outputs, 1, act=nn.Identity))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet_v2() -> Model:
    torch.manual_seed(34)
    layers: list[nn.Module] = [_conv(3, 32, 3, 2, 1, act=nn.ReLU6)]
    channels = 32
    for widening, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                             (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                             (6, 320, 1, 1)]:
        for i in range(count):
            layers.append(Inverted(channels, outputs, stride if i == 0 else 1, widening))
            channels = outputs
    return _settled(nn.Sequential(*layers, _conv(320, 1280, 1, act=nn.ReLU6),
                                  nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)),
                    3, 224, 224)


EMBEDDED: dict[str, Callable[[], Model]] = {
    "digits": digits,
    "autoencoder": autoencoder,
    "ds_cnn": ds_cnn,
    "resnet8": resnet8,
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "wake_word": wake_word,
    "sensor": sensor,
    "gesture": gesture,
    "recurrent": recurrent,
    "lstm": lstm,
    "shapes": shapes,
    "keyword": keyword,
    "transformer": transformer,
}
