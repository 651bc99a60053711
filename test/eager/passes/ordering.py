# SPDX-License-Identifier: Apache-2.0
"""Functions of order and running values."""

import math

import torch

from passes.traced import emit


def orders(x):
    ties = torch.tensor([[2.0, -1, 2, 0, -1], [math.nan, 1, 3, 1, 0.5]])
    emit("sorting", lambda a: (
        *torch.sort(a, 1), *torch.sort(a, dim=0, descending=True, stable=True), a.argsort(-1),
        torch.msort(a[:1])), ties)
    emit("sorted_numbers", lambda a: (
        *a.sort(), *a.sort(-1, True), a.argsort(), torch.msort(a), *a.kthvalue(1), *a.cummax(0),
        *a.cummin(0)), torch.tensor(-1.5))
    emit("middles", lambda a, b: (
        *torch.kthvalue(a, 2, 1, keepdim=True), *a.kthvalue(2, 0), a.median(), b.median(), b[1].median(),
        *a.median(1), *b.median(1), *a.median(2, keepdim=True)),
        x, torch.tensor([[2.0, -1, 3, math.nan], [0.5, 1, -4, 2]]))
    emit("running", lambda a, b: (
        a.cumprod(2), a.logcumsumexp(1), *a.cummax(1), *a.cummin(-1), *b.cummax(1), *b.cummin(0)),
        x, ties)
    emit("buckets", lambda a, e: (
        torch.bucketize(a, e), torch.bucketize(a, e, right=True, out_int32=True),
        torch.searchsorted(e, a, side="right"),
        torch.searchsorted(torch.stack([e, e * 2]), a)), ties, torch.tensor([-1.0, 0.5, 2]))
