# SPDX-License-Identifier: Apache-2.0
"""Modules with branches that sizes and numbers decide; varying_models.py exports and calls them."""

import torch
from torch import nn


class Choice(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)
        self.b = nn.Linear(6, 6)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x):
        def positive(x):
            return torch.relu(self.a(x)) * self.scale

        def negative(x):
            return torch.tanh(self.b(x)) - x * self.scale

        return torch.cond(x.sum() > 0, positive, negative, (x,)) + 1


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 5)

    def forward(self, x, y):
        def inner_true(x, y):
            return self.a(x) + y, x * 2

        def inner_false(x, y):
            return x - y, self.a(y)

        def outer_true(x, y):
            a, b = torch.cond(y.sum() > 0, inner_true, inner_false, (x, y))
            return torch.exp(-a * a), b.clone()

        def outer_false(x, y):
            return x * y, y.clone()

        a, b = torch.cond(x.sum() > 0, outer_true, outer_false, (x, y))
        return a + b, b


class SizeBranches(nn.Module):
    """Branches by a size, by two, by a product of them, and by a number that a tensor holds; and a
    comparison that is returned."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x, y, limit):
        rows, columns, most = x.shape[0], y.shape[1], limit.item()
        torch._check(most >= -9)
        torch._check(most <= 9)
        a = torch.cond(rows > 4, lambda x: self.a(x) * 2, lambda x: x - 1, (x,))
        b = torch.cond(rows * 2 <= columns, lambda y: y.exp(), lambda y: y.tanh(), (y,))
        c = torch.cond(most > 2, lambda x: x.sin(), lambda x: x.cos(), (x,))
        d = torch.cond(rows / columns >= 0.75, lambda x: x + 3, lambda x: x * x, (x,))
        return a, b, c, d


class BranchNumbers(nn.Module):
    """Branches inside of both branches, which find numbers that are called alike."""

    def forward(self, x, first, second):
        def inner_true(x, second):
            return x * second.item()

        def inner_false(x, second):
            return x - second.item() * 2

        def outer_true(x, second):
            return torch.cond(second > 1, inner_true, inner_false, (x, second)) + 1

        def outer_false(x, second):
            return torch.cond(second < -1, inner_true, inner_false, (x * 3, second)) - second.item()

        return torch.cond(first > 0, outer_true, outer_false, (x, second))
