# SPDX-License-Identifier: Apache-2.0
"""Calls that work on each element by itself."""

import math

import torch

from kernels.calls import call, ints, t

special = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, 80.0, -80.0])


def one_operand():
    """Functions of one operand."""
    for n in "exp expm1 sin cos tan atan sinh tanh asinh erf sigmoid neg abs ceil floor trunc round sign relu".split():
        call(f"aten::{n}.out", torch.cat([t(20, lo=-4, hi=4), special]))
    call("aten::cosh.out", t(20))
    call("aten::exp.out", t(3, 4, dtype=torch.float64), dtypes=(torch.float64,))
    call("aten::exp.out", t(7, dtype=torch.float16), dtypes=(torch.float16,))
    call("aten::sigmoid.out", t(7, dtype=torch.bfloat16), dtypes=(torch.bfloat16,))
    call("aten::sin.out", torch.tensor([1e3, 1e5, -3e6, 12345.678]))
    call("aten::sqrt.out", ints(5, lo=0, dtype=torch.int32))
    for n in "log log1p log2 log10 sqrt rsqrt reciprocal".split():
        call(f"aten::{n}.out", torch.cat([t(20, lo=0.01, hi=9), special]))
    for n in "asin acos atanh".split():
        call(f"aten::{n}.out", torch.cat([t(20, lo=-1, hi=1), special]))
    call("aten::acosh.out", torch.cat([t(20, lo=1, hi=40), special]))
    for n in "abs neg sign".split():
        call(f"aten::{n}.out", ints(12), dtypes=(torch.int64,))
    call("aten::abs.out", torch.tensor([-128, 127, -1], dtype=torch.int8), dtypes=(torch.int8,))
    call("aten::round.out", torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997]))
    for n in "isinf isnan logical_not".split():
        call(f"aten::{n}.out", special, dtypes=(torch.bool,))
    call("aten::bitwise_not.out", ints(9, dtype=torch.int32), dtypes=(torch.int32,))
    call("aten::bitwise_not.out", t(9, dtype=torch.bool), dtypes=(torch.bool,))
    call("aten::gelu.out", t(20, lo=-5, hi=5), "none")
    call("aten::gelu.out", t(20, lo=-5, hi=5), "tanh")
    call("aten::hardtanh.out", torch.cat([t(9, lo=-9, hi=9), special]), 0.0, 6.0)
    call("aten::clamp.out", torch.cat([t(9), special]), -1.0, None)
    call("aten::clamp.out", t(9), None, 0.5)
    call("aten::clamp.out", t(9), 1.0, 0.5)
    call("aten::clamp.out", ints(9), -2, 3, dtypes=(torch.int64,))
    call("aten::leaky_relu.out", torch.cat([t(9), special]), 0.01)
    call("aten::elu.out", t(9), 1.5, 1.0, 1.0)
    call("aten::logit.out", t(9, lo=0.1, hi=0.9), None)
    call("aten::logit.out", t(9, lo=-0.1, hi=1.1), 0.05)


def two_operands():
    """Functions of two operands, broadcast or a number."""
    for n in "add sub".split():
        call(f"aten::{n}.out", t(2, 3), t(3), 1)
        call(f"aten::{n}.out", t(2, 1, 3), t(4, 1), 2.5)
        call(f"aten::{n}.out", ints(4), ints(4), 3, dtypes=(torch.int64,))
        call(f"aten::{n}.Scalar_out", t(5), 0.1, 1)
        call(f"aten::{n}.Scalar_out", ints(5, dtype=torch.int32), 7, 2, dtypes=(torch.int32,))
    call("aten::add.out", t(2, 3), ints(3), 1)
    call("aten::add.out", torch.tensor([250], dtype=torch.uint8), torch.tensor([10], dtype=torch.uint8), 1, dtypes=(torch.uint8,))
    call("aten::add.out", t(1, 3, 2, 2).to(memory_format=torch.channels_last), t(1, 3, 1, 1), 1)
    call("aten::add.out", t(0, 3), t(3), 1)
    call("aten::add.out", t(()), t(()), 1)
    call("aten::rsub.Scalar_out", t(5), 1.5, 1)
    call("aten::mul.out", t(2, 3), t(2, 1))
    call("aten::mul.Scalar_out", t(5), 0.3)
    call("aten::mul.Scalar_out", ints(5), 3, dtypes=(torch.int64,))
    call("aten::div.out", t(5), t(5))
    call("aten::div.out", ints(5), ints(5, lo=1, hi=4))
    call("aten::div.Scalar_out", t(5), 3.0)
    for mode in ("floor", "trunc", None):
        call("aten::div.out_mode", t(9, lo=-9, hi=9), t(9, lo=0.3, hi=2), mode)
        call("aten::div.Scalar_mode_out", t(9, lo=-9, hi=9), 1.5, mode)
    for mode in ("floor", "trunc"):
        call("aten::div.out_mode", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), mode, dtypes=(torch.int64,))
    call("aten::floor_divide.out", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), dtypes=(torch.int64,))
    call("aten::floor_divide.out", t(9, lo=-9, hi=9), t(9, lo=0.3, hi=2))
    for n in "fmod remainder".split():
        call(f"aten::{n}.Tensor_out", t(9, lo=-9, hi=9), torch.tensor([2.0, -2, 3, -3, 0.5, -0.5, 1, -1, 4]))
        call(f"aten::{n}.Tensor_out", ints(9), torch.tensor([2, -2, 3, -3, 5, -5, 1, -1, 4]), dtypes=(torch.int64,))
        call(f"aten::{n}.Scalar_out", t(9, lo=-9, hi=9), -1.5)
    for n in "maximum minimum".split():
        call(f"aten::{n}.out", torch.cat([special, t(10)]), torch.cat([t(10), special]))
        call(f"aten::{n}.out", ints(6), ints(6), dtypes=(torch.int64,))
    call("aten::atan2.out", t(12), t(12))
    call("aten::pow.Tensor_Tensor_out", t(9, lo=0.1, hi=3), t(9))
    call("aten::pow.Tensor_Tensor_out", ints(5), ints(5, lo=0, hi=5), dtypes=(torch.int64,))
    for e in (2, 3.0, 0.5, -1.0, 2.3):
        call("aten::pow.Tensor_Scalar_out", t(9, lo=0.1, hi=3), e)
    call("aten::pow.Tensor_Scalar_out", t(9), 2)
    call("aten::pow.Scalar_out", 2.0, t(9))
    for n in "eq ne lt le gt ge".split():
        call(f"aten::{n}.Tensor_out", ints(12, lo=0, hi=3), ints(12, lo=0, hi=3), dtypes=(torch.bool,))
        call(f"aten::{n}.Tensor_out", special, special.flip(0), dtypes=(torch.bool,))
        call(f"aten::{n}.Scalar_out", ints(12, lo=0, hi=3), 2, dtypes=(torch.bool,))
        call(f"aten::{n}.Scalar_out", torch.tensor([0.1, 0.2, 0.3]), 0.2, dtypes=(torch.bool,))
    for n in "logical_and logical_or logical_xor".split():
        call(f"aten::{n}.out", t(8, dtype=torch.bool), t(8, dtype=torch.bool), dtypes=(torch.bool,))
    for n in "bitwise_and bitwise_or bitwise_xor".split():
        call(f"aten::{n}.Tensor_out", ints(8), ints(8), dtypes=(torch.int64,))
        call(f"aten::{n}.Tensor_out", t(8, dtype=torch.bool), t(8, dtype=torch.bool), dtypes=(torch.bool,))
        call(f"aten::{n}.Scalar_out", ints(8), 5, dtypes=(torch.int64,))

    for n in "bitwise_left_shift bitwise_right_shift".split():
        call(f"aten::{n}.Tensor_out", ints(8), ints(8, lo=0, hi=5), dtypes=(torch.int64,))
        call(f"aten::{n}.Tensor_Scalar_out", ints(8), 3, dtypes=(torch.int64,))

    # Results wrap in the type of the operands, whatever the output is.
    large, small = (torch.tensor(v, dtype=torch.uint8) for v in ([200, 3, 255], [100, 5, 255]))
    signed = torch.tensor([-128, 100, -1], dtype=torch.int8)
    for n in "add sub".split():
        for other in (small, signed, torch.tensor(300)):
            call(f"aten::{n}.out", large, other, 2)
        call(f"aten::{n}.out", large, small, 1, dtypes=(torch.int32,))
    call("aten::add.out", torch.tensor([True, False, True]), torch.tensor([True, True, False]), 1)
    call("aten::mul.out", large, signed)
    call("aten::pow.Tensor_Scalar_out", large, 2)
    call("aten::bitwise_left_shift.Tensor_Scalar_out", large, 1)
    call("aten::floor_divide.out", large, torch.tensor(260))
    for n in "eq lt".split():
        call(f"aten::{n}.Scalar_out", large, 456, dtypes=(torch.bool,))


def clamps_and_gates():
    """Clamping by tensors, gates."""
    nan_list = torch.tensor([1.0, math.nan, -3.0, 5.0])
    call("aten::clamp.Tensor_out", t(3, 4), t(4), t(3, 1))
    call("aten::clamp.Tensor_out", nan_list, None, torch.tensor([2.0, 1.0, math.nan, 4.0]))
    call("aten::clamp.Tensor_out", ints(6), ints(6), None, dtypes=(torch.int64,))
    call("aten::fill.Tensor_out", t(2, 3), torch.tensor(2.5))
    call("aten::fill.Tensor_out", ints(3), torch.tensor(7), dtypes=(torch.int64,))
    call("aten::glu.out", t(3, 4), -1)
    call("aten::glu.out", t(2, 3, 2), 0)
    call("aten::glu.out", t(2, 3, 2), 2)
