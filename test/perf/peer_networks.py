# SPDX-License-Identifier: Apache-2.0
"""Networks that forty.py times and no package has: U-Nets, super-resolution, a detector's
backbone with its heads, an encoder of text, one of sound, recurrent ones.

Each is an nn.Module of NCHW images (float), of tokens (int64) or of samples (float).
"""

import torch
import torch.nn.functional as F
from torch import nn


def conv_norm_act(i: int, o: int, kernel: int = 3, stride: int = 1,
                  act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False),
                         nn.BatchNorm2d(o), act())


class UNet(nn.Module):
    """Three levels, transposed convolutions up; (1, 3, h, w) -> (1, 2, h, w)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.down = nn.ModuleList(
            nn.Sequential(conv_norm_act(i, o), conv_norm_act(o, o))
            for i, o in zip([3, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[:3])
        self.join = nn.ModuleList(
            nn.Sequential(conv_norm_act(2 * w, w), conv_norm_act(w, w)) for w in widths[:3])
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for level, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for level in (2, 1, 0):
            x = self.join[level](torch.cat([self.up[level](x), kept[level]], 1))
        return self.last(x)


class SuperResolution(nn.Module):
    """Residual 3 x 3 convolutions and a pixel shuffle; (1, 3, h, w) -> (1, 3, 3h, 3w)."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                          nn.Conv2d(width, width, 3, padding=1)) for _ in range(blocks))
        self.last = nn.Sequential(nn.Conv2d(width, 27, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return self.last(x)


class CrossStage(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        half = width // 2
        self.left = conv_norm_act(width, half, 1, act=nn.SiLU)
        self.right = conv_norm_act(width, half, 1, act=nn.SiLU)
        self.inner = nn.Sequential(conv_norm_act(half, half, 1, act=nn.SiLU),
                                   conv_norm_act(half, half, 3, act=nn.SiLU))
        self.out = conv_norm_act(width, width, 1, act=nn.SiLU)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left = self.left(x)
        return self.out(torch.cat([left + self.inner(left), self.right(x)], 1))


class Detector(nn.Module):
    """A cross-stage backbone, one step of a pyramid, two heads of 85 channels."""

    def __init__(self) -> None:
        super().__init__()
        act = nn.SiLU
        self.stem = nn.Sequential(conv_norm_act(3, 24, 3, 2, act), conv_norm_act(24, 48, 3, 2, act),
                                  CrossStage(48), conv_norm_act(48, 96, 3, 2, act), CrossStage(96))
        self.deep = nn.Sequential(conv_norm_act(96, 192, 3, 2, act), CrossStage(192))
        self.join = nn.Sequential(conv_norm_act(288, 96, 1, act=act), CrossStage(96))
        self.fine = nn.Conv2d(96, 85, 1)
        self.coarse = nn.Conv2d(192, 85, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        near = self.stem(x)
        far = self.deep(near)
        wide = F.interpolate(far, scale_factor=2.0, mode="nearest")
        near = self.join(torch.cat([wide, near], 1))
        return self.fine(near).sigmoid(), self.coarse(far).sigmoid()


class TextEncoder(nn.Module):
    """Embedding and PyTorch's own encoder layers; (1, t) tokens -> (1, classes)."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(8000, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.last = nn.Linear(width, 16)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.last(self.layers(self.embedding(tokens)).mean(1))


def sound_encoder() -> nn.Module:
    """Convolutions of one dimension; (1, 1, samples) -> (1, 192, frames)."""
    layers: list[nn.Module] = []
    for i, o, kernel, stride in [(1, 96, 10, 5), (96, 96, 3, 2), (96, 96, 3, 2), (96, 192, 3, 2),
                                 (192, 192, 2, 2)]:
        layers += [nn.Conv1d(i, o, kernel, stride), nn.GELU()]
    return nn.Sequential(*layers)


class Recurrent(nn.Module):
    """Two layers of a recurrent cell; (1, t, 40) -> (1, 12)."""

    def __init__(self, cell: type[nn.Module], both_ways: bool) -> None:
        super().__init__()
        self.cells = cell(40, 128, 2, batch_first=True, bidirectional=both_ways)
        self.last = nn.Linear(256 if both_ways else 128, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.cells(x)[0][:, -1])


MAKERS = {
    "unet_16": lambda: UNet(16),
    "unet_32": lambda: UNet(32),
    "unet_64": lambda: UNet(64),
    "super_resolution": lambda: SuperResolution(48, 4),
    "detector": Detector,
    "text_encoder_50": lambda: TextEncoder(256, 8, 4),
    "sound_encoder": sound_encoder,
    "gru": lambda: Recurrent(nn.GRU, False),
    "lstm_both_ways": lambda: Recurrent(nn.LSTM, True),
}
