# SPDX-License-Identifier: Apache-2.0
"""Operators under their other names and in place, and rare functions of elements."""

import math

import torch

from passes.traced import emit, rand


def names():
    x, y = rand(2, 3) * 3, rand(2, 3) * 3
    y[0, 0] = x[0, 0]
    emit("arithmetic_names", lambda a, b: (
        torch.arctan2(a, b), torch.multiply(a, b), torch.subtract(a, b, alpha=2),
        torch.divide(a, b), torch.true_divide(a, b), torch.clip(a, -1, 1), torch.clip(a, b),
        torch.clip(a, b, b + 1), torch.subtract(a, 2), torch.ops.aten.multiply.Scalar(a, 3)), x, y)
    emit("comparison_names", lambda a, b: (
        torch.greater(a, b), torch.greater_equal(a, b), torch.less(a, b), torch.less_equal(a, b),
        torch.not_equal(a, b), torch.greater(a, 1), torch.greater_equal(a, 1), torch.less(a, 1),
        torch.less_equal(a, 1), torch.not_equal(a, 1)), x, y)
    emit("arithmetic_names_in_place", lambda a, b: (
        a.clone().multiply_(b), a.clone().multiply_(2), a.clone().subtract_(b),
        a.clone().subtract_(2), a.clone().divide_(b), a.clone().divide_(2),
        a.clone().true_divide_(b), a.clone().arctan2_(b), a.clone().clip_(-1, 1),
        a.clone().clip_(b), torch.ops.aten.gelu_(a.clone()), a.clone().cumprod_(1),
        a.abs().float_power(b.abs()).float_power_(2.0), a.clone().ldexp_(b.long())), x, y)
    emit("comparisons_in_place", lambda a, b: (
        a.clone().lt_(b), a.clone().gt_(1), a.clone().le_(b), a.clone().ge_(1), a.clone().eq_(b),
        a.clone().ne_(b), a.clone().greater_(b), a.clone().less_(1), a.clone().greater_equal_(b),
        a.clone().less_equal_(1), a.clone().not_equal_(b)), x, y)
    special = torch.tensor([-math.inf, -2.5, -0.0, 0.0, 0.5, 1.0, 3.0, math.inf, math.nan])
    emit("special_functions", lambda a, b: (
        torch.special.entr(a), torch.special.ndtr(a), torch.special.xlog1py(b, a),
        torch.special.xlog1py(a, 2.0), torch.special.xlog1py(2, a), torch.special.xlogy(b, a),
        torch.special.xlogy(a, 2.0), torch.special.xlogy(2.0, a), torch.special.round(a),
        torch.special.softmax(b, 0), torch.special.log_softmax(b, 0),
        torch.special.logsumexp(b, 0), torch.heaviside(a, b), torch.fmax(a, b), torch.fmin(b, a),
        torch.logaddexp2(a, b), torch.isreal(a), torch.nanmean(a[1:7]), torch.nanmean(a, 0, True)),
        special, rand(9))
    emit("close", lambda a, b: (
        torch.isclose(a, b), torch.isclose(a, a), torch.isclose(a, a, equal_nan=True),
        torch.isclose(a, b, 0.1, 0.5), torch.isclose(torch.sign(a[:8]).long(),
                                                     torch.ones(8).long(), 0, 1)),
        special, special + 1e-6)
    emit("powers_in_double", lambda a, i: (
        torch.float_power(a, 2), torch.float_power(i, a), torch.float_power(2, i),
        torch.ldexp(a, i), torch.ldexp(i, i)), rand(4), torch.tensor([0, 1, -2, 5]))


def products():
    x, y, m, v, w = rand(2, 3), rand(4, 3), rand(3, 3), rand(3), rand(3)
    emit("product_names", lambda a, b, c, v, w: (
        torch.inner(a, b), torch.inner(v, w), torch.inner(a, v), torch.vdot(v, w),
        torch.ger(v, w), torch.addr(c, v, w, beta=0.5, alpha=2), c.clone().addr_(v, w),
        torch.linalg.multi_dot([a, c, c]), torch.chain_matmul(a, c, c),
        torch.linalg.vecdot(a, a + 1), torch.linalg.vecdot(c, v, dim=0),
        v.clone().addmv_(c, w), torch.inner(a, torch.tensor(2.0))), x, y, m, v, w)
    emit("batched_product_names", lambda s, a, b: (
        s.clone().baddbmm_(a, b, beta=0.5), torch.addbmm(s[0], a, b, alpha=2),
        s[0].clone().addbmm_(a, b, beta=0)), rand(2, 3, 4), rand(2, 3, 5), rand(2, 5, 4))
    emit("stacks", lambda a, v, s: (
        torch.column_stack([a, a]), torch.column_stack([v, v]), torch.column_stack([s, s]),
        torch.dstack([a, a]), torch.dstack([v, v]), torch.dstack([s, s]), torch.row_stack([a, v]),
        torch.atleast_1d(s), torch.atleast_2d(v), torch.atleast_3d(v), torch.atleast_3d(a)),
        x, v, torch.tensor(1.5))


def truths():
    emit("truths_of_all", lambda a, b: (
        torch.ops.aten._is_all_true(a), torch.ops.aten._is_all_true(b),
        torch.ops.aten._is_any_true(a), torch.ops.aten._is_any_true(b),
        torch.ops.aten._is_all_true(a[:0]), torch.ops.aten._is_any_true(a[:0])),
        torch.tensor([True, False, True]), torch.tensor([[True], [True]]))
