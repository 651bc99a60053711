# SPDX-License-Identifier: Apache-2.0
"""Modules that resize images and fill tensors; varying_models.py exports and calls them."""

import torch
from torch import nn


class Resizes(nn.Module):
    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        resize = nn.functional.interpolate
        pad = nn.functional.pad
        return (resize(x, scale_factor=2, mode="nearest"),
                resize(x, scale_factor=2.0, mode="bilinear", align_corners=False),
                resize(x, size=(height + 1, 2 * width), mode="nearest"),
                resize(x, size=(height + 2, 7), mode="bilinear", align_corners=True),
                resize(x, size=(5, width + 1), mode="bilinear", align_corners=False),
                pad(x, (1, 2, 2, 0), mode="reflect"), pad(x, (1, 0, 2, 3), mode="replicate"),
                pad(x[0], (2, 1), mode="reflect"), pad(x[0], (1, 3), mode="replicate"),
                torch.roll(x, (-1, 2), (2, 3)))


class Resamples(nn.Module):
    """Bytes are fours and grow to twice their places, so that weights and sums are exact."""

    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        resize = nn.functional.interpolate
        fours = torch.clamp(x * 20, 0, 60).to(torch.uint8) * 4
        volume = x.unsqueeze(1)
        return (resize(x, size=(5, 4), mode="bilinear", antialias=True),
                resize(x, size=(height + 1, 2 * width), mode="bicubic"),
                resize(x, size=(7, width + 2), mode="bicubic", align_corners=True),
                resize(x, scale_factor=1.5, mode="bicubic"),
                resize(fours, size=(2 * height - 1, 2 * width - 1), mode="bilinear", align_corners=True),
                resize(fours, size=(2 * height - 1, 2 * width - 1), mode="bicubic",
                       align_corners=True),
                resize(volume, scale_factor=1.5, mode="trilinear"),
                resize(volume, size=(3, height + 2, 5), mode="trilinear", align_corners=True))


class Fills(nn.Module):
    """Tensors of numbers that elements of a buffer are, as a detector makes of its strides; and
    images of overlapping windows, filled with what falls on each place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("strides", torch.tensor([8.0, 16.5]))
        self.register_buffer("places", torch.tensor([3, 7]))

    def forward(self, x):
        rows, first = x.shape[0], self.strides[0].item()
        return (x.new_full((2, 1), first), torch.full_like(x, 1.0 / rows), x.new_full((2,), rows),
                torch.full((rows, 2), self.strides[1].item(), dtype=torch.float32),
                x.new_full((1, 2), self.places[1].item(), dtype=torch.int64),
                torch.scalar_tensor(self.strides[1].item()) * x,
                nn.functional.fold(x.unsqueeze(1).expand(-1, 4, -1), (2, 4), 2))


class WritesOut(nn.Module):
    """Calls with out=: of another type, a part, an input of the call itself, and without elements."""

    def forward(self, x):
        z = torch.empty_like(x)
        torch.maximum(x, -x, out=z)
        part = z[:, 1:]
        torch.add(z, x, alpha=2, out=z)
        joined = torch.empty(0)
        torch.cat([x, z], out=joined)
        wide = torch.empty_like(x, dtype=torch.float64)
        torch.sum(x.unsqueeze(0), dim=0, out=wide)
        rows = torch.zeros_like(x)
        torch.mul(x[:, :1], 3.0, out=rows[:, 1:2])
        square = torch.matmul(x, x.t(), out=x.new_empty(x.shape[0], x.shape[0]))
        mean = torch.mean(x, 1, out=x.new_empty(x.shape[0]))
        return z, part, joined, wide, rows, square, mean


class Unfolds(nn.Module):
    """Windows of an image whose sizes vary, those over rows being a convolution's of ConvBERT, and
    grids for some images, as spatial transformers compute them."""

    def forward(self, x):
        unfold, grid = nn.functional.unfold, nn.functional.affine_grid
        count = x.shape[0]
        turned = x.flatten(2)[:, :, :3]
        return (unfold(x, (3, 2), padding=(1, 0), stride=(2, 1)), unfold(x[0], 2, dilation=2),
                unfold(x.flatten(2).unsqueeze(-1), (9, 1), padding=(4, 0)),
                grid(turned, (count, 3, 4, 5), align_corners=True),
                grid(x.flatten(1)[:, :12].unflatten(1, (3, 4)), (count, 1, 2, 3, 1),
                     align_corners=False))


class Windows(nn.Module):
    """What the places of an image whose sizes vary are copied to, and windows laid upon each other."""

    def forward(self, x):
        height, width = x.shape[2], x.shape[3]
        resize = nn.functional.interpolate
        volume = x.unsqueeze(1)
        unfolded = nn.functional.unfold(x, (3, 2), padding=1)
        return (resize(x, size=(height + 1, 2 * width - 1), mode="nearest-exact"),
                resize(x, scale_factor=1.5, mode="nearest-exact"),
                resize(x[0], size=width + 2, mode="nearest-exact"),
                resize(volume, size=(5, height + 2, 7), mode="nearest-exact"),
                resize(volume, scale_factor=(2, 1.5, 1), mode="nearest"),
                nn.functional.fold(unfolded, (height, width), (3, 2), padding=1))


class Ranges(nn.Module):
    """Centres of places, as DINOv3 counts them."""

    def forward(self, x):
        n = x.shape[0]
        return (torch.arange(0.5, n, dtype=torch.float32) / n, torch.arange(0.5, n // 2))
