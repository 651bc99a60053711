# SPDX-License-Identifier: Apache-2.0
"""Calls that slide windows over planes and volumes, or sample them."""

import math

import torch

from kernels.calls import F, call, emit, ints, t


def convolutions():
    """Arguments: input, weight, bias, stride, padding, dilation, transposed, output padding, groups."""
    call("aten::convolution.out", t(2, 3, 6, 5), t(4, 3, 3, 3), t(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    call("aten::convolution.out", t(1, 4, 7, 7), t(4, 1, 3, 3), None, [2, 2], [1, 1], [1, 1], False, [0, 0], 4)
    call("aten::convolution.out", t(1, 4, 7, 8), t(6, 2, 2, 3), t(6), [2, 1], [0, 2], [2, 1], False, [0, 0], 2)
    call("aten::convolution.out", t(1, 3, 4, 4).to(memory_format=torch.channels_last), t(2, 3, 3, 3), t(2), [1], [1], [1], False, [0], 1)
    call("aten::convolution.out", t(2, 3, 9), t(4, 3, 3), t(4), [2], [1], [1], False, [0], 1)
    call("aten::convolution.out", t(1, 4, 3, 4), t(4, 3, 3, 2), t(3), [2, 3], [1, 0], [1, 2], True, [1, 0], 1)
    call("aten::convolution.out", t(1, 4, 3, 4), t(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 2)
    call("aten::convolution.out", t(1, 2, 5), t(2, 3, 4), t(3), [2], [1], [1], True, [1], 1)


def windows():
    """Pools and resampling of planes."""
    for args in (([3, 3], [2, 2], [1, 1], [1, 1], False), ([2], [], [0], [1], True), ([3, 2], [2, 1], [1, 0], [2, 1], False), ([2, 2], [2, 2], [0, 0], [1, 1], True)):
        call("aten::max_pool2d_with_indices.out", t(2, 2, 7, 6), *args, dtypes=(F, torch.int64))
    nan_plane = t(1, 1, 4, 4)
    nan_plane[0, 0, 1, 1] = math.nan
    call("aten::max_pool2d_with_indices.out", nan_plane, [2, 2], [2, 2], [0, 0], [1, 1], False, dtypes=(F, torch.int64))
    for args in (([3, 3], [2, 2], [1, 1], False, True, None), ([3, 3], [2, 2], [1, 1], True, False, None), ([2], [], [0], True, True, None), ([2, 2], [2, 2], [0, 0], False, True, 3), ([3, 3], [2, 2], [1, 1], True, True, None)):
        call("aten::avg_pool2d.out", t(1, 2, 6, 7), *args)
    call("aten::avg_pool2d.out", t(2, 5, 5), [2, 2], [1, 1], [0, 0], False, True, None)
    call("aten::_adaptive_avg_pool2d.out", t(1, 2, 7, 5), [3, 2])
    call("aten::_adaptive_avg_pool2d.out", t(2, 5, 5), [1, 1])
    for align in (False, True):
        call("aten::upsample_bilinear2d.vec_out", t(1, 2, 3, 4), [5, 7], align, None)
        call("aten::upsample_bilinear2d.vec_out", t(1, 2, 3, 4), None, align, [2.0, 2.0])
    call("aten::upsample_bilinear2d.vec_out", t(1, 1, 5, 5), [3, 2], False, None)
    call("aten::upsample_nearest2d.vec_out", t(1, 2, 3, 4), [5, 7], None)
    call("aten::upsample_nearest2d.vec_out", t(1, 2, 3, 4), None, [2.0, 1.5])


def volumes_and_samples():
    """Pads of volumes, sampled images."""
    call("aten::reflection_pad3d.out", t(1, 2, 3, 4, 3), [1, 2, 0, 3, 2, 1])
    call("aten::replication_pad3d.out", t(2, 2, 3, 2), [1, 2, 0, 3, 2, 1])
    call("aten::_upsample_bilinear2d_aa.out", t(1, 2, 9, 7), [4, 3], False, None, None)
    call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 5, 6), [7, 8], False, None, None)
    call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 9, 8), [3, 5], True, None, None)
    call("aten::_upsample_bilinear2d_aa.out", t(1, 1, 9, 8), [3, 5], False, 0.34, 0.7)
    for interpolation in (0, 1, 2):
        for padding in (0, 1, 2):
            for corners in (False, True):
                x, grid = t(2, 2, 4, 5), t(2, 3, 3, 2, lo=-1.4, hi=1.4)
                # Element centers half way between two are a matter of rounding.
                emit("aten::grid_sampler_2d.out", [x, grid, interpolation, padding, corners],
                     [torch.ops.aten.grid_sampler_2d(x, grid, interpolation, padding, corners)])


def convolutions_of_integers():
    """Sums of integers that leave their type wrap round."""
    name, wide = "aten::convolution.out", torch.int64
    for dtype in wide, torch.int32, torch.uint8:
        def x(*sizes, dtype=dtype):
            return ints(*sizes, lo=0 if dtype is torch.uint8 else -9, hi=90, dtype=dtype)
        call(name, x(1, 2, 4, 5), x(3, 2, 3, 2), x(3), [2, 1], [1, 1], [1, 1], False, [0, 0], 1, dtypes=(dtype,))
    same = dict(dtypes=(wide,))
    call(name, ints(1, 4, 5), ints(4, 2, 3), None, [1], [0], [2], False, [0], 2, **same)
    call(name, ints(1, 2, 3, 2), ints(2, 2, 2, 3), ints(2), [2, 1], [0, 1], [1, 1], True, [1, 0], 1, **same)


def windows_that_hang_over():
    """The only window of a plane may be larger than it."""
    args = ([3, 4], [2, 3], [0, 1])
    call("aten::max_pool2d_with_indices.out", t(1, 2, 2, 3), *args, [1, 1], True, dtypes=(F, torch.int64))
    for with_padding in (False, True):
        call("aten::avg_pool2d.out", t(1, 2, 2, 3), *args, True, with_padding, None)
