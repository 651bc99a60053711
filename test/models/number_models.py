# SPDX-License-Identifier: Apache-2.0
"""Modules whose sizes become numbers; varying_models.py exports and calls them."""

import torch
from torch import nn


class Numbers(nn.Module):
    """What sizes become as numbers: scales, bounds, powers, starts and steps."""

    def forward(self, x):
        n = x.shape[0]
        scale = 1.0 / n
        first = torch.zeros(1, 3, dtype=torch.int64)
        return (x * scale - n * 0.3, x.sum(0) / n, x + max(n, 4) / 3, x.masked_fill(x > 0, scale),
                x.masked_fill(x < 0, n), x > scale, torch.arange(n) > n * 0.5, torch.arange(n, 2 * n),
                torch.arange(n - 1, -1, -1) * -(n / 2), torch.full((2,), n * 0.7, dtype=torch.int64),
                torch.scatter(x, 0, first, n), torch.scatter(x, 0, first, scale))


class NumberArguments(nn.Module):
    """Numbers that sizes make where kernels keep a number in their code."""

    def forward(self, x):
        n = x.shape[0]
        levels = (x * 8).to(torch.int32)
        functional = nn.functional
        return (x.clamp(max=n * 0.1), x.clamp(-n, n - 4), levels.clamp(min=3 - n, max=n),
                levels.clamp(max=n * 0.7), functional.hardtanh(x, -0.2 * n, 0.1 * n),
                functional.leaky_relu(x, n * 0.25), torch.add(x, x, alpha=n),
                torch.sub(x, x[:1], alpha=n * 0.5), torch.add(levels, levels, alpha=n),
                torch.tril(x, n - 4), torch.tril(x, diagonal=1 - n), torch.roll(x, n // 2, 0),
                torch.roll(x, -n, 1), torch.roll(x, (1 - n, n + 1), (0, 1)), torch.roll(x, 7, 0))


class Powers(nn.Module):
    """Powers of sizes: integers, which are sizes again, and the roots that attention is divided by."""

    def forward(self, x):
        n = x.shape[0]
        return (x / n**2, torch.arange(n**2), (x @ x.t()).reshape(n**2), x * n**-1, x / n**0.5,
                x * n**-0.5, n**3)


class NumberRefusals(nn.Module):
    """Numbers where generated C takes none that sizes make."""

    def forward(self, x):
        n = x.shape[0]
        return torch.addmm(x, x, x.new_ones(3, 3), alpha=n), x * (1 / (n - 2))


class ReturnedNumbers(nn.Module):
    """Outputs that are ints: sizes, what follows from them, from values, and one that is fixed."""

    def forward(self, x, y):
        n = x.shape[0]
        return (x * n, n, n * 3 + y.shape[1], (x > 0).sum().item(), x.argmax().item(), x.shape[1],
                n, y.sum(1))


class Limits(nn.Module):
    """Bounds and values that elements of tensors are, and what is computed of them."""

    def forward(self, x, n):
        most = n.item()
        return (x.clamp(max=most), torch.full((3,), most * 2 - 1.5), x.masked_fill(x > 0, most),
                torch.full_like(x, x.amin().item() + x.shape[0]), x.clamp(-most, most + 1),
                torch.cond(x.sum() > 0, lambda x, n: x.clamp(max=n.item()),
                           lambda x, n: x.clamp(min=n.item()), (x, n)))
