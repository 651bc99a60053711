# SPDX-License-Identifier: Apache-2.0
"""Calls of attention, an operator of this project."""

import math

import torch

from kernels.calls import F, emit, t


def record(q, k, v, mask, causal, scale):
    result = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=True)
    emit("petrel::attention.out", [q, k, v, mask, causal, scale], [result])


def attention():
    """Heads that share keys, masks of both kinds, rows that see nothing, a step with a cache."""
    for dtype in (F, torch.float16, torch.bfloat16, torch.float64):
        record(t(1, 2, 3, 4, dtype=dtype), t(1, 2, 5, 4, dtype=dtype), t(1, 2, 5, 6, dtype=dtype), None, False, 0.5)
    record(t(2, 4, 3, 8), t(2, 2, 5, 8), t(2, 2, 5, 8), None, True, 0.3)
    record(t(1, 4, 9, 8), t(1, 1, 9, 8), t(1, 1, 9, 8), None, True, 0.3)
    record(t(1, 2, 1, 8), t(1, 2, 20, 8), t(1, 2, 20, 8), torch.arange(20)[None] < 7, False, 0.25)
    record(t(1, 2, 1, 8), t(1, 2, 20, 8), t(1, 2, 20, 8), torch.where(torch.arange(20)[None] < 7, 0.0, -math.inf), False, 0.25)
    seen = t(4, 6, dtype=torch.bool)
    seen[2] = False
    record(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), seen, False, 0.25)
    record(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), t(2, 1, 4, 6), False, 0.25)
    record(t(2, 2, 4, 8), t(2, 2, 6, 8), t(2, 2, 6, 8), t(2, 4, 1), False, 0.25)
    record(t(1, 1, 12, 4), t(1, 1, 6, 4), t(1, 1, 6, 4), t(12, 6, dtype=torch.bool), False, 0.5)
    broken = t(1, 1, 3, 4)
    broken[0, 0, 1, 2] = math.nan
    # Eager's fused kernel makes a row of NaN scores 0; its plain one, as here, NaN.
    key, value = t(1, 1, 5, 4), t(1, 1, 5, 4)
    emit("petrel::attention.out", [broken, key, value, None, False, 0.5],
         [torch.softmax(broken @ key.transpose(-1, -2) * 0.5, -1) @ value])
    record(t(1, 1, 3, 4), t(1, 1, 5, 4), torch.full((1, 1, 5, 4), math.inf), None, False, 0.5)
    # A score of -inf that no mask made: the weight is 0, and 0 times infinity is no number.
    query, key = torch.full((1, 1, 3, 4), 0.5), torch.linspace(-1, 1, 20).reshape(1, 1, 5, 4)
    key[0, 0, 2, 1] = -math.inf
    value = torch.linspace(2, -2, 20).reshape(1, 1, 5, 4)
    value[0, 0, 2, 3] = math.inf
    emit("petrel::attention.out", [query, key, value, None, False, 0.5],
         [torch.softmax(query @ key.transpose(-1, -2) * 0.5, -1) @ value])
