# SPDX-License-Identifier: Apache-2.0
"""Networks whose layers stand between operators that XNNPACK lacks: rolls, flips, gathers.

  moved = Moved()
  moved(torch.randn(1, 3, 9, 10))
"""

import torch
import torch.nn.functional as F
from torch import nn


class Moved(nn.Module):
    """Convolutions, and between them elements that only change their place."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Conv2d(16, 5, 1)
        self.register_buffer("order", torch.tensor([3, 1, 0, 2, 7, 6, 5, 4]))

    def forward(self, x):
        y = F.relu(self.first(x))
        z = self.second(torch.roll(y, 1, 3)).flip(2)
        return self.last(torch.cat([z, y[:, self.order]], 1))


class Windows(nn.Module):
    """A block of a Swin transformer: attention within windows of a rolled image, with a bias
    that is looked up by place."""

    def __init__(self, width: int = 24, heads: int = 3, side: int = 4) -> None:
        super().__init__()
        self.heads, self.side = heads, side
        self.norm, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn(49, heads))
        self.register_buffer("places", torch.randint(0, 49, (side * side, side * side)))
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, h, w, d = x.shape
        s, rows = self.side, self.side ** 2
        y = torch.roll(self.norm(x), (-2, -2), (1, 2)).view(n, h // s, s, w // s, s, d)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(-1, rows, d)
        q, k, v = (self.qkv(y).view(-1, rows, 3, self.heads, d // self.heads)
                   .permute(2, 0, 3, 1, 4).unbind(0))
        bias = self.bias[self.places.view(-1)].view(rows, rows, self.heads).permute(2, 0, 1)
        scores = (q * (d // self.heads) ** -0.5) @ k.transpose(-1, -2) + bias
        y = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, rows, d))
        y = y.view(n, h // s, w // s, s, s, d).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, d)
        x = x + torch.roll(y, (2, 2), (1, 2))
        return x + self.layers(self.between(x))
