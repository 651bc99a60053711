# SPDX-License-Identifier: Apache-2.0
"""Modules with sizes that depend on data; varying_models.py exports and calls them."""

import torch
from torch import nn


class Masks(nn.Module):
    """What masks choose, of which there may be nothing."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x, y, column):
        rows = x[x[:, 0] > 0]
        put = x.clone()
        larger = x > y
        put[larger] += y[larger]
        return (
            self.linear(rows).relu(), x[x > y] * x[larger], x[:, y[0] > 0], x[y[:, 1] > 0, column],
            put, torch.cat([rows, y]), rows.shape[0] * 10, rows.sum(0),
        )  # fmt: skip


class MaskRows(nn.Module):
    """Of masks, what ExecuTorch's exporter takes as well."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(x[x[:, 0] > 0]).relu(), torch.nonzero(x > 0)


class MaskedPlaces(nn.Module):
    """Places that are not zero, elements by how often, and a batch whose size varies as well."""

    def forward(self, x, times):
        i, j = torch.where(x > 0)
        often = torch.repeat_interleave(x, times, dim=0)
        torch._check(often.shape[0] <= 40)
        rows = x[x.sum(1) > 0]
        return torch.nonzero(x > 0), i * 10 + j, often + 1, torch.argwhere(x), rows.unsqueeze(1) - x


class Selected(nn.Module):
    """Elements by a mask that is repeated, columns of each row, and elements by a whole mask."""

    def forward(self, x, y):
        chosen = torch.masked_select(x, y > 0)
        columns = x[:, y > 0]
        return chosen * 2, columns + 1, columns.sum(1), x[x > y], chosen.shape[0] * 3
