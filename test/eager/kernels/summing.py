# SPDX-License-Identifier: Apache-2.0
"""Calls that sum, compare or order elements: products, norms, reductions."""

import math

import torch

from kernels.calls import F, call, emit, ints, t


def matrices():
    """Products of matrices."""
    call("aten::mm.out", t(3, 4), t(4, 5))
    call("aten::mm.out", ints(2, 3), ints(3, 2), dtypes=(torch.int64,))
    call("aten::bmm.out", t(2, 3, 4), t(2, 4, 5))
    for bias in (t(5), t(3, 5), t(3, 1), t(())):
        call("aten::addmm.out", bias, t(3, 4), t(4, 5), 1, 1)
    call("aten::addmm.out", t(5), t(3, 4), t(4, 5), 0.5, 2.0)
    for b in (None, t(5)):
        call("aten::linear.out", t(2, 3, 4), t(5, 4), b)


def norms():
    """Normalisations."""
    call("aten::native_layer_norm.out", t(2, 3, 4), [4], t(4), t(4), 1e-5, dtypes=(F, F, F))
    call("aten::native_layer_norm.out", t(2, 3, 4), [3, 4], None, None, 1e-5, dtypes=(F, F, F))
    call("aten::native_group_norm.out", t(2, 6, 3), t(6), t(6), 2, 6, 3, 3, 1e-5, dtypes=(F, F, F))
    call("aten::native_group_norm.out", t(1, 4, 2, 2), None, None, 1, 4, 4, 2, 1e-3, dtypes=(F, F, F))
    call("aten::_native_batch_norm_legit_no_training.out", t(2, 3, 2, 2), t(3), t(3), t(3), t(3, lo=0.5, hi=2), 0.1, 1e-5, dtypes=(F, F, F))
    call("aten::_native_batch_norm_legit_no_training.out", t(2, 3), None, None, t(3), t(3, lo=0.5, hi=2), 0.1, 1e-3, dtypes=(F, F, F))


def reductions():
    """Reductions, running sums and softmax."""
    for dims, keep in (([1], False), ([0, 2], True), (None, False), ([-1], True), ([], False)):
        call("aten::sum.IntList_out", t(2, 3, 4), dims, keep, None)
        call("aten::mean.out", t(2, 3, 4), dims, keep, None)
        call("aten::amax.out", t(2, 3, 4), dims or [], keep)
        call("aten::amin.out", t(2, 3, 4), dims or [], keep)
        if dims != []:
            call("aten::any.dims_out", t(2, 3, 4, dtype=torch.bool), dims, keep, dtypes=(torch.bool,))
    call("aten::sum.IntList_out", ints(2, 3), [1], False, None, dtypes=(torch.int64,))
    call("aten::sum.IntList_out", t(4, dtype=torch.bool), [0], False, None, dtypes=(torch.int64,))
    call("aten::mean.out", t(1, 3, 4, 4).to(memory_format=torch.channels_last), [2, 3], True, None)
    call("aten::var.correction_out", t(2, 3, 4), [1, 2], 1, False)
    call("aten::var.correction_out", t(2, 3, 4), [1], 0, True)
    call("aten::var.correction_out", t(5), None, None, False)
    call("aten::var.out", t(2, 3, 4), [1], False, True)
    call("aten::mean.dtype_out", t(2, 3), None)
    call("aten::prod.int_out", t(2, 3, 4), 1, True, None)
    call("aten::prod.out", ints(5), None, dtypes=(torch.int64,))
    call("aten::any.all_out", t(2, 3, dtype=torch.bool), dtypes=(torch.bool,))
    call("aten::any.out", t(2, 3, dtype=torch.bool), 1, False, dtypes=(torch.bool,))
    for n in "max min".split():
        call(f"aten::{n}.unary_out", t(2, 3))
        call(f"aten::{n}.unary_out", ints(7), dtypes=(torch.int64,))
    call("aten::topk.values", t(2, 5, 3), 2, 1, True, True, dtypes=(F, torch.int64))
    call("aten::topk.values", t(6), 4, 0, False, True, dtypes=(F, torch.int64))
    with_nan = t(3, 4)
    with_nan[1, 2] = math.nan
    for n in "max min".split():
        call(f"aten::{n}.dim_{n}", with_nan, 1, True, dtypes=(F, torch.int64))
        call(f"aten::{n}.dim_{n}", t(3, 4, 2), -2, False, dtypes=(F, torch.int64))
        call(f"aten::arg{n}.out", with_nan, 1, False, dtypes=(torch.int64,))
        call(f"aten::arg{n}.out", torch.tensor([1.0, 3.0, 3.0, -1.0, -1.0]), None, False, dtypes=(torch.int64,))
    call("aten::cumsum.out", t(2, 3, 4), 1, None)
    call("aten::cumsum.out", ints(5), 0, None, dtypes=(torch.int64,))
    for n in "_softmax _log_softmax".split():
        call(f"aten::{n}.out", t(2, 3, 4, lo=-30, hi=30), -1, False)
        call(f"aten::{n}.out", t(2, 3, 4), 1, False)


def distances():
    """Distances between rows."""
    for p in (0.0, 1.0, 2.0, 2.5, math.inf):
        call("aten::_cdist_forward.out", t(2, 3, 4), t(2, 5, 4), p, None)
        call("aten::_pdist_forward.out", t(5, 3), p)
    call("aten::_cdist_forward.out", t(2, 1, 3, 4), t(3, 2, 4), 1.0, None)


def variances():
    """Variances with their means, statistics of the batch itself."""
    for dims, keep in (([1], False), ([0, 2], True), (None, False)):
        x = t(3, 4, 5)
        emit("aten::var_mean.correction_out", [x, dims, 1, keep], torch.var_mean(x, dims, correction=1, keepdim=keep))
    x, w, b = t(3, 4, 5, 2), t(4), t(4)
    emit("aten::_native_batch_norm_legit.no_stats_out", [x, w, b, True, 0.1, 1e-5],
         torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5))
    x = t(6, 4)
    emit("aten::_native_batch_norm_legit.no_stats_out", [x, None, None, True, 0.1, 1e-3],
         torch.ops.aten._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-3))


def orders():
    """All of many elements in order, along the middle."""
    call("aten::topk.values", t(2, 40, 3), 40, 1, False, True, dtypes=(F, torch.int64))
    call("aten::topk.values", t(2, 40), 17, 1, True, True, dtypes=(F, torch.int64))


def norms_of_nothing():
    """Groups without elements have moments."""
    nothing = torch.zeros(3, 2, 0)
    call("aten::native_layer_norm.out", nothing, [0], None, None, 1e-5, dtypes=(F, F, F))
    call("aten::native_group_norm.out", nothing, None, None, 3, 2, 0, 2, 1e-5, dtypes=(F, F, F))
