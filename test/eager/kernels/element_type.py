# SPDX-License-Identifier: Apache-2.0
"""Calls with other element types than f32."""

import torch

from kernels.calls import F, call, ints, t


def halves():
    """float16 and bfloat16, where kernels have loops of their own for them."""
    for dtype in (torch.float16, torch.bfloat16):
        def n(*sizes, lo=-2.0, hi=2.0):
            return t(*sizes, lo=lo, hi=hi, dtype=dtype)

        same = dict(dtypes=(dtype,))
        for name in "exp tanh sigmoid erf sqrt abs neg relu floor reciprocal".split():
            call(f"aten::{name}.out", n(19, lo=0.1, hi=3), **same)
        call("aten::gelu.out", n(19), "none", **same)
        call("aten::clamp.out", n(19), -1.0, 1.0, **same)
        call("aten::hardtanh.out", n(19), -1.0, 1.0, **same)
        for name in "add sub".split():
            call(f"aten::{name}.out", n(3, 5), n(5), 2, **same)
            call(f"aten::{name}.out", n(3, 5), n(3, 1), 1, **same)
        for name in "mul div maximum minimum".split():
            call(f"aten::{name}.out", n(3, 5), n(5, lo=0.5, hi=2), **same)
        for name in "eq lt ge".split():
            call(f"aten::{name}.Tensor_out", n(3, 5), n(5), dtypes=(torch.bool,))
            call(f"aten::{name}.Scalar_out", n(3, 5), 0.5, dtypes=(torch.bool,))
        call("aten::where.self_out", t(3, 5, dtype=torch.bool), n(3, 5), n(5), **same)
        for dim in (0, 1):
            call("aten::sum.IntList_out", n(4, 9), [dim], False, None, **same)
            call("aten::mean.out", n(4, 9), [dim], True, None, **same)
            call("aten::amax.out", n(4, 9), [dim], False, **same)
            call("aten::_softmax.out", n(4, 9), dim, False, **same)
            call("aten::_log_softmax.out", n(4, 9), dim, False, **same)
            call("aten::cumsum.out", n(4, 5), dim, None, **same)
            call("aten::argmax.out", n(4, 9), dim, False, dtypes=(torch.int64,))
        call("aten::native_layer_norm.out", n(2, 3, 7), [7], n(7), n(7), 1e-5, dtypes=(dtype,) * 3)
        call("aten::native_group_norm.out", n(1, 4, 3), n(4), n(4), 1, 4, 3, 2, 1e-5, dtypes=(dtype,) * 3)
        call("aten::mm.out", n(3, 20), n(20, 5), **same)
        call("aten::bmm.out", n(2, 3, 20), n(2, 20, 5), **same)
        call("aten::addmm.out", n(5), n(3, 20), n(20, 5), 1, 1, **same)
        call("aten::embedding.out", n(5, 3), torch.tensor([[0, 4], [2, 2]]), -1, False, False, **same)


def integers():
    """Integers of both sizes."""
    for dtype in (torch.int64, torch.int32):
        def i(*sizes, lo=-9, hi=9):
            return ints(*sizes, lo=lo, hi=hi, dtype=dtype)

        same = dict(dtypes=(dtype,))
        for name in "abs neg sign relu".split():
            call(f"aten::{name}.out", i(19), **same)
        for name in "add sub".split():
            call(f"aten::{name}.out", i(3, 5), i(5), 3, **same)
        for name in "mul maximum minimum".split():
            call(f"aten::{name}.out", i(3, 5), i(3, 1), **same)
        call("aten::clamp.out", i(19), -3, 4, **same)
        call("aten::clamp.out", i(19), None, 4, **same)
        for name in "eq ne lt le gt ge".split():
            call(f"aten::{name}.Tensor_out", i(3, 5), i(5), dtypes=(torch.bool,))
        for dim in (0, 1):
            if dtype is torch.int64:  # sums of others are int64
                call("aten::cumsum.out", i(4, 5), dim, None, **same)
            call("aten::amax.out", i(4, 5), [dim], False, **same)
        call("aten::gather.out", i(3, 4), 1, torch.tensor([[0, 3], [1, 1]]), False, **same)
    call("aten::arange.out", 5, dtypes=(torch.int32,))


def conversions():
    """Every type to every other."""
    kinds = [F, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
    for source in kinds:
        for target in kinds:
            if source is not target:
                x = t(17, lo=0 if torch.uint8 in (source, target) else -9, hi=9, dtype=source)
                call("aten::_to_copy.out", x, False, None, dtypes=(target,))
