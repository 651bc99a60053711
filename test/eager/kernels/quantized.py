# SPDX-License-Identifier: Apache-2.0
"""Calls of quantising and dequantising operators, as torch's reference computes them."""

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401
import executorch.kernels.quantized  # noqa: F401
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401

from kernels.calls import F, emit, ints, t

NUMBERS = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.float16: 5, F: 6,
           torch.float64: 7, torch.bfloat16: 15}
LEVELS = {torch.uint8: (0, 255), torch.int8: (-128, 127), torch.int16: (-32768, 32767),
          torch.int32: (-2**31, 2**31 - 1)}
HALVES = (torch.float16, torch.bfloat16)


def number(value):
    return NUMBERS.get(value, value) if isinstance(value, torch.dtype) else value


def call(name, *arguments, **keyword):
    """Records `name` of torch as its out-variant `name`.out or .Tensor_out."""
    packet, _, overload = name.partition(".")
    op = getattr(getattr(torch.ops.quantized_decomposed, packet), overload or "default")
    results = op(*arguments, **keyword)
    results = list(results) if isinstance(results, tuple) else [results]
    out = "Tensor_out" if overload else "out"
    emit(f"quantized_decomposed::{packet}.{out}",
         [number(v) for v in (*arguments, *keyword.values())], results)


def steps():
    """Values between two levels and on both sides, beyond the range, and none at all."""
    nan, inf = float("nan"), float("inf")
    return torch.tensor([0.0, 0.05, 0.15, 0.25, -0.05, -0.15, -0.25, 1e9, -1e9, inf, -inf, nan, -0.0])


def per_tensor():
    for dtype, (low, high) in LEVELS.items():
        if dtype is not torch.int32:  # its range is not whole in float
            call("quantize_per_tensor", t(3, 17, lo=-9, hi=9), 0.0371, 3, low, high, dtype)
        x = ints(3, 17, lo=max(low, -1000), hi=min(high, 1000)).to(dtype)
        call("dequantize_per_tensor", x, 0.0371, 3, low, high, dtype, out_dtype=None)
    call("quantize_per_tensor", steps(), 0.1, 1, -128, 127, torch.int8)
    call("quantize_per_tensor", t(9), 0.01, -7, -127, 127, torch.int8)
    call("quantize_per_tensor", t(9), float("inf"), 0, -128, 127, torch.int8)
    call("quantize_per_tensor", t(9), 1e-40, 0, -128, 127, torch.int8)
    call("quantize_per_tensor", t(0, 3), 0.1, 0, 0, 255, torch.uint8)
    for dtype in HALVES:
        call("quantize_per_tensor", t(2, 9, dtype=dtype), 0.0123, -5, -128, 127, torch.int8)
        call("dequantize_per_tensor", ints(2, 9, lo=-128, hi=127, dtype=torch.int8), 0.0123, -5, -128,
             127, torch.int8, out_dtype=dtype)
    scale = torch.tensor([0.0173], dtype=torch.float64)
    zero_point = torch.tensor([11])
    call("quantize_per_tensor.tensor", t(4, 5), scale, zero_point, -128, 127, torch.int8)
    call("dequantize_per_tensor.tensor", ints(4, 5, lo=-128, hi=127, dtype=torch.int8), scale,
         zero_point, -128, 127, torch.int8, out_dtype=None)


def per_group():
    for axis in (0, 1, 2):
        sizes = (3, 4, 5)
        scales = t(sizes[axis], lo=0.01, hi=0.2)
        zero_points = ints(sizes[axis])
        x = ints(*sizes, lo=-128, hi=127, dtype=torch.int8)
        call("quantize_per_channel", t(*sizes), scales, zero_points, axis, -128, 127, torch.int8)
        call("quantize_per_channel", t(*sizes), scales.double(), zero_points.int(), axis, -7, 7,
             torch.int8)
        call("dequantize_per_channel", x, scales, zero_points, axis, -128, 127, torch.int8,
             out_dtype=None)
        call("dequantize_per_channel", x, scales.double(), None, axis, -128, 127, torch.int8,
             out_dtype=None)
    x = ints(2, 6, lo=-128, hi=127, dtype=torch.int8)
    wrapping = torch.tensor([100, -100], dtype=torch.int8)
    call("dequantize_per_channel", x, t(2, lo=0.1, hi=1), wrapping, 0, -128, 127, torch.int8,
         out_dtype=None)
    for dtype in HALVES:
        call("quantize_per_channel", t(2, 6, dtype=dtype), t(2, lo=0.1, hi=1), ints(2), 0, -128, 127,
             torch.int8)
        call("dequantize_per_channel", x, t(2, lo=0.1, hi=1), ints(2), 0, -128, 127, torch.int8,
             out_dtype=dtype)
    for dtype in (F, *HALVES):
        for exact in (F, torch.float64):
            scales = t(2, 3, 1, lo=0.01, hi=0.1).to(exact)
            call("quantize_per_token", t(2, 3, 7, dtype=dtype), scales, ints(2, 3, 1), -128, 127,
                 torch.int8)
        call("dequantize_per_token", ints(2, 3, 7, lo=-128, hi=127, dtype=torch.int8), scales,
             ints(2, 3, 1), -128, 127, torch.int8, dtype)


def chosen_parameters():
    for x in (t(3, 5), t(3, 5, lo=1, hi=2), t(3, 5, lo=-2, hi=-1), torch.zeros(2, 2)):
        call("choose_qparams.tensor", x, -128, 127, 0.000244140625, torch.int8)
        call("choose_qparams.tensor", x, 0, 255, 1e-5, torch.uint8)
        call("choose_qparams_per_token_asymmetric", x, torch.int8)
    for dtype in HALVES:
        call("choose_qparams.tensor", t(3, 5, dtype=dtype), -128, 127, 0.000244140625, torch.int8)
        call("choose_qparams_per_token_asymmetric", t(4, 3, 5, dtype=dtype), torch.int8)


def packed(rows, columns, bits):
    """A table of elements of so many bits."""
    sizes = (rows, columns * bits // 8)
    if bits == 8:
        return ints(*sizes, lo=-128, hi=127, dtype=torch.int8)
    return ints(*sizes, lo=0, hi=255).to(torch.uint8)


def tables():
    for name, bits in (("byte", 8), ("4bit", 4), ("2bit", 2)):
        low = -(1 << (bits - 1))
        table, rows = packed(7, 16, bits), ints(2, 3, lo=0, hi=6)
        op = getattr(torch.ops.quantized_decomposed, "embedding_" + name)
        for scales in (t(7, lo=0.01, hi=0.2), t(7, 4, lo=0.01, hi=0.2), t(7, 1, lo=0.01, hi=0.2)):
            for zeros in (None, torch.round(t(*scales.shape, lo=-9, hi=9))):
                for kind in (F, torch.float16):
                    numbers = scales.to(kind)
                    more = None if zeros is None else zeros.to(kind)
                    arguments = [table, numbers, more, low, -low - 1, rows]
                    emit(f"quantized_decomposed::embedding_{name}.out", arguments,
                         [op.default(*arguments)])
        arguments = [table, scales, None, low, -low - 1, rows[0].int()]
        for dtype in (F, *HALVES):
            emit(f"quantized_decomposed::embedding_{name}.dtype_out", [*arguments, number(dtype)],
                 [op.dtype(*arguments, dtype=dtype)])


def upstream(name, sizes, *arguments, dtype=F):
    """Records what a kernel of ExecuTorch computes, of which torch has no function."""
    out = torch.empty(sizes, dtype=dtype)
    getattr(torch.ops.quantized_decomposed, name).out(*arguments, out=out)
    emit(f"quantized_decomposed::{name}.out", [number(v) for v in arguments], [out])


def mixed():
    weight = ints(8, 6, lo=-128, hi=127, dtype=torch.int8)
    upstream("mixed_mm", (3, 6), t(3, 8), weight, t(8, lo=0.01, hi=0.1), None)
    upstream("mixed_linear", (3, 8), t(3, 6), weight, t(8, lo=0.01, hi=0.1), None, None)
    upstream("mixed_linear", (3, 8), t(3, 6), weight, t(8, lo=0.01, hi=0.1), None, F)
    a, b = (ints(4, 5, lo=0, hi=255).to(torch.uint8) for _ in range(2))
    upstream("add", a.shape, a, 0.03, 5, 0, 255, b, 0.07, 9, 0, 255, 0.09, 3, 0, 250,
             dtype=torch.uint8)
