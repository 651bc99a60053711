# SPDX-License-Identifier: Apache-2.0
"""Calls of the operators that ExecuTorch's decoders have, as its library for torch computes them."""

import math

import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

from kernels.calls import F, emit, t

LLAMA = torch.ops.llama
HALVES = (torch.float16, torch.bfloat16)


def caches():
    """Rows in the middle and at the end, of one element type or another."""
    for dtype in (F, torch.float16, torch.int8, torch.int64):
        value, cache = t(2, 3, 2, 2, dtype=dtype), t(2, 7, 2, 2, dtype=dtype)
        for start in (0, 2, 4) if dtype is F else (1,):
            update("update_cache", value, cache, start)
    update("update_cache_with_indices", t(2, 3, 2, 2), t(2, 7, 2, 2), 0,
           torch.tensor([[6, 0, 3], [2, 2, 1]]))


def update(name, value, cache, start, *more):
    before, after = cache.clone(), cache.clone()
    getattr(LLAMA, name)(value, after, start, *more)
    # The output says nothing and stays as it is.
    emit(f"llama::{name}.out", [value, before, start, *more], [torch.zeros(1)], after={1: after})


def attended(q, k, v, start, mask, causal, scale=None):
    result = LLAMA.custom_sdpa(q, k, v, start, mask, 0.0, causal, scale)
    emit("llama::custom_sdpa.out", [q, k, v, start, mask, 0.0, causal, scale], [result])


def attention():
    """Steps and prompts, heads that share keys, masks, and rows that see nothing."""
    for dtype in (F, *HALVES):
        attended(t(1, 3, 4, 4, dtype=dtype), t(1, 6, 2, 4, dtype=dtype), t(1, 6, 2, 4, dtype=dtype), 2, None, True)
    attended(t(2, 1, 4, 4), t(2, 6, 2, 4), t(2, 6, 2, 4), 5, None, True)
    attended(t(2, 4, 4, 3), t(2, 6, 4, 3), t(2, 6, 4, 3), 2, None, False)
    attended(t(1, 7, 2, 5), t(1, 7, 1, 5), t(1, 7, 1, 5), 0, None, True, 0.3)
    attended(t(1, 3, 4, 4), t(1, 6, 2, 4), t(1, 6, 2, 4), 2, t(3, 6), False)
    attended(t(1, 3, 4, 4), t(1, 6, 2, 4), t(1, 6, 2, 4), 0,
             torch.where(torch.arange(6) < 1 + torch.arange(3)[:, None], 0.0, -math.inf), False)
    hidden = t(3, 6)
    hidden[1] = -math.inf
    attended(t(1, 3, 4, 4), t(1, 6, 2, 4), t(1, 6, 2, 4), 2, hidden, False)
    for start, causal, mask in ((0, True, None), (3, True, None), (2, False, None), (3, False, t(3, 6))):
        q, k, v = t(1, 3, 4, 3), t(1, 3, 2, 3), t(1, 3, 2, 3)
        keys, values = t(1, 6, 2, 3), t(1, 6, 2, 3)
        given = [q, k, v, keys.clone(), values.clone(), start, 3, mask, 0.0, causal, None]
        result = LLAMA.sdpa_with_kv_cache(q, k, v, keys, values, *given[5:])
        emit("llama::sdpa_with_kv_cache.out", given, [result], after={3: keys, 4: values})


def levels(x):
    """int8 of each vector, with its zero point and scale."""
    scale = (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)) / 255
    zero_point = torch.round(-128 - x.amin(-1, keepdim=True) / scale)
    return ((x / scale).round() + zero_point).clamp(-128, 127).to(torch.int8), zero_point.to(torch.int8), scale


def of_levels():
    for heads_first in (False, True):
        def x(rows, heads):
            return levels(t(1, heads, rows, 4) if heads_first else t(1, rows, heads, 4))
        for start, causal, mask in ((0, True, None), (3, True, None), (2, False, t(3, 6))):
            q, k, v = x(3, 4), x(6, 2), x(6, 2)
            given = [q[0], k[0], v[0], start, mask, 0.0, causal, None, *q[1:], *k[1:], *v[1:], heads_first]
            emit("llama::custom_quantized_sdpa.out", given, [LLAMA.custom_quantized_sdpa(*given)])


def transforms():
    for sizes in ((2, 16), (1,), (1, 2, 8), (1, 28), (1, 56)):
        x = t(*sizes)
        emit("llama::fast_hadamard_transform.out", [x], [LLAMA.fast_hadamard_transform(x)])
    halves = t(2, 8, dtype=torch.float16)
    emit("llama::fast_hadamard_transform.out", [halves], [LLAMA.fast_hadamard_transform(halves)])
