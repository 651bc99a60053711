# SPDX-License-Identifier: Apache-2.0
"""Products of rows in groups, and how many elements lie where."""

import math

import torch
import transformers.integrations.moe  # noqa: F401

from passes.traced import emit

MOE = torch.ops.transformers


def steps(*sizes):
    """Numbers of [-2, 2) in no order."""
    count = math.prod(sizes)
    return ((torch.arange(count) * 37 % 64 - 32) / 16).reshape(sizes)


def grouped(x, w, ends):
    """What has traces in bfloat16 only."""
    return torch._grouped_mm(x.bfloat16(), w.bfloat16(), offs=ends)


def products():
    few, many, wide = steps(3, 8), steps(7, 8), steps(3, 8, 8)
    stored = steps(3, 5, 8)
    for name, x, ends in (("few", few, [1, 1, 3]), ("many", many, [2, 2, 7])):
        emit(name + "_rows_in_groups", lambda x, w, s, e: (
            MOE.grouped_mm_fallback(x, s.transpose(1, 2), e), grouped(x, w, e)),
            x, wide, stored, torch.tensor(ends, dtype=torch.int32))
    emit("rows_behind_groups", lambda x, y, s, e: (
        MOE.grouped_mm_fallback(x, s, e), MOE.grouped_mm_fallback(y, s, e - 2),
        grouped(y.reshape(3, 1, 8).expand(3, 2, 8), s, None)),
        many, few, wide, torch.tensor([2, 3, 4]))


def histograms():
    x = torch.tensor([[0.0, 1, 2, 3, 3, -1], [4, math.nan, 2.999, 0.5, math.inf, -math.inf]])
    emit("histograms", lambda a, b, c: (
        torch.histc(a, 4, 0, 3), torch.histc(a, 3, -1.5, 2.5), torch.histc(b, 5), torch.histc(c, 3),
        torch.histc(b.half(), 4, -1, 1), torch.histc(b.double())),
        x, steps(3, 7), torch.ones(4))
