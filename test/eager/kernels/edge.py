# SPDX-License-Identifier: Apache-2.0
"""Edges of functions, and element types beside the usual ones."""

import math

import torch

from kernels.calls import call, emit, ints, t


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
    probabilities = torch.tensor([0.0, 1.0, -0.5, 1.5, 0.25, 0.5, 0.75, math.inf, -math.inf, math.nan])
    for eps in (None, 1e-6, 1e-3, 0.6, -1.0):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            call("aten::logit.out", probabilities.to(dtype), eps, dtypes=(dtype,))
    for n in "isnan isinf".split():
        call(f"aten::{n}.out", edges, dtypes=(torch.bool,))
    for low, high in ((math.nan, None), (None, math.nan), (math.nan, 1.0), (-1.0, math.nan)):
        call("aten::clamp.out", edges, low, high)


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


def chosen_by_index():
    """Rows and columns by indices, of several types; reductions of any dims."""
    for dtype in (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8):
        same = dict(dtypes=(dtype,))
        def x(*sizes, dtype=dtype):
            return t(*sizes, lo=0, hi=9).round().to(dtype)
        for dim, index in ((0, ints(2, 4, lo=0, hi=2)), (1, ints(3, 2, lo=0, hi=3)),
                           (-1, ints(3, 40, lo=0, hi=3))):
            call("aten::gather.out", x(3, 4), dim, index, False, **same)
        middle = ints(2, 4, 2, lo=0, hi=2)
        call("aten::gather.out", x(2, 3, 5), 1, middle, False, **same)
        call("aten::scatter.value_out", x(2, 3, 5), 1, middle, 7, **same)
        if dtype is not torch.uint8:
            call("aten::scatter_add.out", x(2, 3, 5), 1, middle, x(2, 4, 3), **same)
            call("aten::scatter_add.out", x(3, 4), 1, ints(2, 9, lo=0, hi=3), x(3, 9), **same)
        own = torch.tensor([[2, 0, 1], [1, 2, 0]])  # no place twice
        call("aten::scatter.src_out", x(3, 4), 1, own, x(2, 3), **same)
        call("aten::scatter.src_out", x(3, 4), 0, own, x(2, 4), **same)
        rows = ints(600 if dtype is torch.uint8 else 9, lo=-3, hi=2)
        call("aten::index.Tensor_out", x(3, 2), [rows], **same)
        call("aten::index.Tensor_out", x(2, 3, 4), [None, ints(3, 1, lo=0, hi=2), ints(2, lo=-4, hi=3)],
             **same)
        call("aten::index_select.out", x(2, 3, 4), -2, torch.tensor([2, 0, 0, 1]), **same)
        call("aten::index_put.out", x(4, 3, 2), [torch.tensor([3, 0])], x(2, 3, 2), False, **same)
        call("aten::index_put.out", x(4, 3, 2), [torch.tensor([3, -4])], x(1), False, **same)
        call("aten::index_put.out", x(2, 4, 3), [None, torch.tensor([[3], [1]]), torch.tensor([0, 2])],
             x(2, 2, 2), False, **same)
        if dtype is not torch.uint8:
            call("aten::index_put.out", x(4, 3), [torch.tensor([3, 0, 3])], x(3, 3), True, **same)
            call("aten::index_put.out", x(4, 3), [torch.tensor([3, 0, 3])], x(1).reshape(()), True, **same)
    usual = (torch.float32, torch.int64)
    kinds = (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.int16,
             torch.int8, torch.uint8, torch.bool)
    for dtype in kinds:
        floating = dtype.is_floating_point
        sums = dict(dtypes=(dtype if floating else torch.int64,))
        def x(*sizes, dtype=dtype):
            return (t(*sizes, lo=-9 if floating else 0, hi=12) / 4).round().to(dtype)
        for dims in ([0], [1], [2], [0, 2], [0, 1], []) if dtype in usual else ([0], [0, 2]):
            call("aten::sum.IntList_out", x(3, 2, 18), dims, bool(len(dims) % 2), None, **sums)
            if floating:
                call("aten::mean.out", x(3, 2, 18), dims, False, None, **sums)
            if dtype is not torch.bool:
                call("aten::amax.out", x(3, 2, 18), dims, False, dtypes=(dtype,))
                call("aten::amin.out", x(3, 2, 18), dims, True, dtypes=(dtype,))
            truths = x(3, 2, 18) * t(3, 2, 18, dtype=torch.bool) * t(3, 1, 1, dtype=torch.bool)
            byte = torch.uint8 if dtype is torch.uint8 else torch.bool
            if dims:
                call("aten::any.dims_out", truths, dims, False, dtypes=(byte,))
        call("aten::any.all_out", x(3, 4) * 0, dtypes=(byte,))
        if dtype is not torch.bool:
            call("aten::max.unary_out", x(3, 40), dtypes=(dtype,))
        if dtype is not torch.float16:
            call("aten::prod.out", x(3, 6), None, **sums)
            for dim in (0, 1, -1):
                call("aten::prod.int_out", x(3, 2, 21), dim, False, None, **sums)
    broken = torch.tensor([[1.0, math.nan, 2.0], [math.inf, -1.0, 0.0]], dtype=torch.float64)
    for dim in (0, 1):
        call("aten::amax.out", broken, [dim], False, dtypes=(torch.float64,))
        call("aten::prod.int_out", broken, dim, False, None, dtypes=(torch.float64,))


def products_of_other_types():
    """Products and convolutions of halves and doubles; sums with factors."""
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        same = dict(dtypes=(dtype,))
        def x(*sizes, dtype=dtype):
            return (t(*sizes, lo=-8, hi=8).round() / 4).to(dtype)
        call("aten::mm.out", x(5, 7), x(7, 19), **same)
        call("aten::bmm.out", x(2, 5, 3), x(2, 3, 4), **same)
        call("aten::addmm.out", x(9), x(6, 5), x(5, 9), 1, 1, **same)
        call("aten::linear.out", x(6, 5), x(9, 5), x(9), **same)
        conv = lambda *a: call("aten::convolution.out", *a, **same)
        conv(x(2, 3, 7, 8), x(5, 3, 3, 2), x(5), [2, 1], [1, 0], [1, 2], False, [0, 0], 1)
        conv(x(1, 4, 5, 5), x(6, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 2)
        conv(x(1, 4, 6, 5), x(4, 1, 3, 3), x(4), [1, 1], [2, 1], [1, 1], False, [0, 0], 4)
        conv(x(2, 3, 19), x(7, 3, 4), x(7), [2], [1], [1], False, [0], 1)
        for dim in (0, 1, 2):
            call("aten::_softmax.out", x(2, 3, 17), dim, False, **same)
            call("aten::_log_softmax.out", x(2, 3, 17), dim, False, **same)
    for bias in (t(9), t(1, 9), t(6, 9)):
        call("aten::addmm.out", bias, t(6, 5), t(5, 9), 0.5, -2)
    call("aten::addmm.out", torch.full((9,), math.nan), t(6, 5), t(5, 9), 0, 1.5)
    call("aten::mm.out", t(7, 37), t(37, 1))
    low, high = t(3, 1), t(5)
    low[1], high[2] = math.nan, math.nan
    call("aten::clamp.Tensor_out", t(3, 5), low, high)
    call("aten::clamp.Tensor_out", t(3, 5), None, t(3, 5))
    call("aten::clamp.Tensor_out", t(3, 5), t(3, 5), None)
    for diagonal in (-9, -2, 0, 3, 9):
        call("aten::tril.out", t(2, 4, 5), diagonal)


def transposed_windows():
    """Transposed convolutions of many channels."""
    conv = lambda *a: call("aten::convolution.out", *a)
    x = lambda *sizes: (t(*sizes) * 4).round() / 4  # short in the file
    conv(x(2, 9, 4, 5), x(9, 3, 3, 2), x(3), [2, 1], [1, 0], [1, 2], True, [1, 0], 1)
    conv(x(1, 16, 3, 3), x(16, 2, 2, 2), None, [2, 2], [0, 0], [1, 1], True, [0, 0], 2)
    conv(x(1, 8, 13), x(8, 35, 8), x(35), [4], [2], [1], True, [0], 1)
    conv(x(1, 8, 11, 10), x(8, 2, 3, 3), x(2), [1, 1], [4, 4], [1, 1], True, [0, 0], 1)
    for dtype in (torch.float16, torch.bfloat16):
        n = lambda *sizes: x(*sizes).to(dtype)
        for a in ((n(2, 3, 4, 5), n(3, 3, 3, 2), n(3), [2, 1], [1, 0], [1, 2], True, [1, 0], 1),
                  (n(1, 4, 3, 3), n(4, 2, 2, 2), None, [2, 2], [0, 0], [1, 1], True, [0, 0], 2),
                  (n(1, 9, 7), n(9, 3, 4), n(3), [2], [1], [1], True, [0], 1)):
            call("aten::convolution.out", *a, dtypes=(dtype,))


def what_is_not_a_number():
    """Products that do not count, and samples nowhere."""
    nan, inf = math.nan, math.inf
    a, b = torch.tensor([[1, nan], [2, inf]]), torch.tensor([[nan, 1, 2], [inf, 3, 4]])
    for bias in (torch.tensor([1, nan, 3]), torch.tensor([[1, 2, nan], [inf, 5, 6]])):
        for beta in (1, 0, 2.5):
            for dtype in (torch.float32, torch.float64, torch.float16):
                call("aten::addmm.out", bias.to(dtype), a.to(dtype), b.to(dtype), beta, 0,
                     dtypes=(dtype,))
    x = torch.arange(12.0).reshape(1, 1, 3, 4)
    grid = torch.tensor([[nan, 0], [0, nan], [inf, 0], [0, -inf], [nan, nan], [0.5, 0.25]])
    for dtype in (torch.float32, torch.float64):
        for interpolation in (0, 1, 2):
            for padding in (0, 1, 2):
                arguments = [x.to(dtype), grid.reshape(1, 1, 6, 2).to(dtype), interpolation, padding,
                             False]
                emit("aten::grid_sampler_2d.out", arguments,
                     [torch.ops.aten.grid_sampler_2d(*arguments)])


def rounded_operands():
    """Operands that the type in which both are computed does not have."""
    large = torch.tensor([2**24 + 1, 3 * 2**24 + 3, -2**25 - 5, 2**40 + 1])
    floats = torch.tensor([-2.0**24, 3.0, 0.5, -2.0**40])
    dim = torch.tensor
    for n in "add sub".split():
        call(f"aten::{n}.out", floats, large, 1)
        call(f"aten::{n}.out", large, floats, 1)
        call(f"aten::{n}.out", floats, dim(2**24 + 1), 2)
        call(f"aten::{n}.Scalar_out", large, 0.5, 1)
        call(f"aten::{n}.out", floats, dim(1 / 3, dtype=torch.float64), 3)
    for n in "mul div fmod.Tensor remainder.Tensor floor_divide maximum atan2 pow.Tensor_Tensor".split():
        call(f"aten::{n}_out" if "." in n else f"aten::{n}.out", floats, large)
    call("aten::div.out", 5 * large, dim([3, 5, 7, 11]))
    for n in "eq ne lt ge".split():
        call(f"aten::{n}.Tensor_out", -floats, large, dtypes=(torch.bool,))
        call(f"aten::{n}.Scalar_out", large, 2.0**24, dtypes=(torch.bool,))
        call(f"aten::{n}.Tensor_out", dim([0.1]), dim(0.1, dtype=torch.float64), dtypes=(torch.bool,))
    for dtype, whole in (torch.float16, 2048), (torch.bfloat16, 256):
        narrow = dim([-whole, 3.0, 0.1], dtype=dtype)
        odd = dim([whole + 1, 2 * whole + 3, 7])
        for n in "add sub".split():
            call(f"aten::{n}.out", narrow, odd, 1, dtypes=(dtype,))
            call(f"aten::{n}.out", narrow, odd.to(torch.int32), 1, dtypes=(dtype,))
        for n in "mul fmod.Tensor remainder.Tensor maximum".split():
            name = f"aten::{n}_out" if "." in n else f"aten::{n}.out"
            call(name, narrow, odd, dtypes=(dtype,))
            call(name, narrow, dim(0.03), dtypes=(dtype,))
        for n in "fmod remainder pow.Tensor".split():
            name = f"aten::{n}_Scalar_out" if "." in n else f"aten::{n}.Scalar_out"
            call(name, narrow.abs(), 0.03, dtypes=(dtype,))
        for n in "eq ne lt ge".split():
            call(f"aten::{n}.Scalar_out", narrow, 0.1, dtypes=(torch.bool,))
            call(f"aten::{n}.Tensor_out", narrow, dim(0.1), dtypes=(torch.bool,))
            call(f"aten::{n}.Tensor_out", -narrow, odd, dtypes=(torch.bool,))


def scalars_as_lists():
    """Tensors without dims where an index counts along one."""
    one, none, some = torch.tensor([0]), torch.tensor(0), torch.tensor([0, 0, 0])
    scalar, flat = torch.tensor(2.5), torch.tensor([1.5, -3.0])
    for index in none, one, some:
        call("aten::gather.out", scalar, 0, index, False)
    call("aten::gather.out", flat, -1, torch.tensor(1), False)
    for index in none, one:
        call("aten::index_select.out", scalar, -1, index)
        call("aten::scatter.value_out", scalar, 0, index, 7)
    for source, index in (scalar, none), (flat, one), (scalar, one):
        call("aten::scatter.src_out", scalar, 0, index, source * 3)
        call("aten::scatter_add.out", flat, 0, index, source)
