# SPDX-License-Identifier: Apache-2.0
"""Edges of functions, and element types beside the usual ones."""

import math

import torch

from recorded_call import call, ints, t


def edges_of_functions():
    # Edges of functions: signed zeros, infinities, NaN, the smallest numbers, and
    # angles of any size.
    edges = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, math.inf, -math.inf,
                          math.nan, 1.0000001, -1.0000001, 88.9, -88.9, 3e38])
    for n in "tan asin acos atan sinh cosh asinh acosh atanh exp log sqrt rsqrt".split():
        call(f"aten::{n}.out", edges)
    angles = torch.tensor([1e-40, 100.0, -1e3, 31415.926, 262143.0, -262145.0, 1.6e6, 1e7, -1e10,
                           1e22, -3e38, 3.1415927, 1.5707964, 6.2831855, 12345678.0, 65536.5])
    for n in "sin cos tan".split():
        call(f"aten::{n}.out", angles)
        call(f"aten::{n}.out", angles.double() * 1.1, dtypes=(torch.float64,))
    some = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan])
    grid = [v.contiguous() for v in torch.meshgrid(some, some, indexing="ij")]
    call("aten::atan2.out", *grid)
    call("aten::pow.Tensor_Tensor_out", *grid)
    for n in "fmod remainder".split():
        call(f"aten::{n}.Tensor_out", *grid)
        call(f"aten::{n}.Tensor_out", t(9, hi=1e9, lo=-1e9), t(9, lo=0.1))
        call(f"aten::{n}.Scalar_out", edges[:-1], -0.75)
    call("aten::floor_divide.out", t(19, lo=-50, hi=50), t(19))
    for mode in ("floor", "trunc"):
        call("aten::div.out_mode", t(19, lo=-50, hi=50), t(19), mode)
        call("aten::div.Scalar_mode_out", some, 0.75, mode)
    for e in (3, -1, 0.5, -0.5, 2.5, 0, 1e3):
        call("aten::pow.Tensor_Scalar_out", t(9, lo=0.1, hi=3), e)
    call("aten::pow.Scalar_out", 2.0, torch.tensor([-150.0, -149.0, -126.5, 127.9, 128.0, 0.0]))
    call("aten::logit.out", t(9, lo=-0.2, hi=1.2), 1e-3)
    for n in "isnan isinf".split():
        call(f"aten::{n}.out", edges, dtypes=(torch.bool,))


def doubles_and_small_integers():
    # Doubles and integers of all sizes in elementwise operators.
    for dtype in (torch.float64, torch.int16, torch.int8, torch.uint8):
        same = dict(dtypes=(dtype,))
        def i(*sizes, dtype=dtype):
            if dtype.is_floating_point:
                return t(*sizes, lo=-9, hi=9, dtype=dtype)
            return ints(*sizes, lo=0 if dtype is torch.uint8 else -100, hi=120, dtype=dtype)
        for n in "add sub".split():
            call(f"aten::{n}.out", i(3, 5), i(5), 1, **same)
        for n in "mul maximum minimum".split():
            call(f"aten::{n}.out", i(3, 5), i(3, 1), **same)
        for n in "eq lt ge".split():
            call(f"aten::{n}.Tensor_out", i(3, 5), i(5), dtypes=(torch.bool,))
        call("aten::clamp.out", i(19), 1, 40, **same)
        if dtype is not torch.float64:
            call("aten::bitwise_left_shift.Tensor_Scalar_out", i(9), 3, **same)
            call("aten::bitwise_right_shift.Tensor_Scalar_out", i(9), 3, **same)
            call("aten::bitwise_xor.Tensor_out", i(9), i(9), **same)
            call("aten::div.out", i(3, 5), torch.full((5,), 7, dtype=dtype))
            call("aten::mul.Scalar_out", i(9), 0.3)
            call("aten::mul.out", i(9), t(9))
