# SPDX-License-Identifier: Apache-2.0
"""Calls that move, choose and make elements without computing."""

import math

import torch

from kernels.calls import call, emit, ints, t


def rearrangements():
    """Views, joins, copies, pads."""
    call("aten::view_copy.out", t(2, 3, 4), [4, -1])
    call("aten::view_copy.out", ints(4), [2, 2], dtypes=(torch.int64,))
    for n in "alias_copy detach_copy lift_fresh_copy".split():
        call(f"aten::{n}.out", t(2, 3))
    call("aten::clone.out", t(2, 3), None)
    call("aten::clone.out", t(1, 2, 2, 3).to(memory_format=torch.channels_last), torch.contiguous_format)
    call("aten::_to_copy.out", t(5, lo=-9, hi=9), False, None, dtypes=(torch.int64,))
    call("aten::_to_copy.out", ints(5), False, None)
    call("aten::_to_copy.out", t(9), False, None, dtypes=(torch.float16,))
    call("aten::_to_copy.out", ints(5, lo=0, hi=1), False, None, dtypes=(torch.bool,))
    call("aten::copy.out", t(2, 3), t(3), False)
    call("aten::permute_copy.out", t(2, 3, 4), [2, 0, -2])
    call("aten::transpose_copy.int_out", t(2, 3, 4), 0, -1)
    call("aten::t_copy.out", t(2, 3))
    call("aten::t_copy.out", t(3))
    call("aten::expand_copy.out", t(3, 1), [2, -1, 4], False)
    call("aten::squeeze_copy.dim_out", t(2, 1, 3), 1)
    call("aten::squeeze_copy.dim_out", t(2, 1, 3), 0)
    call("aten::squeeze_copy.dims_out", t(1, 2, 1, 3), [0, 1, -2])
    call("aten::unsqueeze_copy.out", t(2, 3), -1)
    call("aten::unsqueeze_copy.out", t(2, 3), 0)
    for dim, start, end, step in ((1, 1, 4, 1), (0, None, None, 2), (1, -3, 9223372036854775807, 2), (1, 3, 1, 1)):
        call("aten::slice_copy.Tensor_out", t(3, 5), dim, start, end, step)
    call("aten::narrow_copy.out", t(3, 5), 1, 1, 3)
    call("aten::select_copy.int_out", t(3, 4, 5), 1, -1)
    call("aten::slice_scatter.out", t(3, 5), t(3, 2), 1, 1, 5, 2)
    call("aten::select_scatter.out", t(3, 4, 2), t(3, 2), 1, -2)
    call("aten::cat.out", [t(2, 3), t(1, 3), torch.empty(0)], 0)
    call("aten::cat.out", [t(2, 3, 1), t(2, 2, 1)], -2)
    call("aten::stack.out", [t(2, 3), t(2, 3), t(2, 3)], 1)
    # Their out-variants want outputs that have their sizes already.
    x = t(2, 6)
    emit("aten::split_with_sizes_copy.out", [x, [1, 3, 2], 1], [x.split_with_sizes([1, 3, 2], 1)])
    x = t(5, 2)
    emit("aten::split_copy.Tensor_out", [x, 2, 0], [x.split(2, 0)])
    x = t(3, 2)
    emit("aten::unbind_copy.int_out", [x, 0], [x.unbind(0)])
    call("aten::repeat.out", t(2, 3), [2, 1, 3])
    call("aten::repeat.out", t(2), [0])
    call("aten::flip.out", t(2, 3, 4), [0, -1])
    call("aten::pixel_shuffle.out", t(1, 8, 2, 3), 2)
    call("aten::pixel_unshuffle.out", t(1, 2, 4, 6), 2)
    call("aten::as_strided_copy.out", t(4, 5), [2, 3], [1, 4], 2)
    call("aten::diagonal_copy.out", t(3, 4, 2), 1, 0, 1)
    call("aten::diagonal_copy.out", t(3, 4), -1, 1, 0)
    call("aten::unfold_copy.out", t(2, 7), 1, 3, 2)
    call("aten::roll.out", t(3, 4, 2), [1, -2], [0, 1])
    call("aten::roll.out", t(3, 4), [5], [])
    call("aten::constant_pad_nd.out", t(2, 3, 4), [1, 2, 0, 3], 1.5)
    call("aten::constant_pad_nd.out", t(2, 3, 4), [-1, 2, 1, -2], 0)
    call("aten::constant_pad_nd.out", ints(3), [1, 1], 7, dtypes=(torch.int64,))
    call("aten::reflection_pad1d.out", t(1, 2, 5), [2, 3])
    call("aten::reflection_pad2d.out", t(1, 2, 4, 5), [2, 3, 1, 0])
    call("aten::replication_pad1d.out", t(1, 2, 3), [2, 4])
    call("aten::replication_pad2d.out", t(1, 2, 3, 3), [1, 0, 2, 4])


def chosen_elements():
    """Elements chosen by masks and indices."""
    call("aten::where.self_out", t(2, 3, dtype=torch.bool), t(2, 3), t(3))
    call("aten::where.self_out", t(3, dtype=torch.bool), ints(3), ints(1), dtypes=(torch.int64,))
    call("aten::masked_fill.Scalar_out", t(2, 3), t(3, dtype=torch.bool), -1.5)
    call("aten::embedding.out", t(5, 3), torch.tensor([[0, 4], [2, 2]]), -1, False, False)
    call("aten::embedding.out", t(5, 3), torch.tensor([1, 3], dtype=torch.int32), -1, False, False)
    call("aten::index_select.out", t(3, 4), 1, torch.tensor([3, 0, 0]))
    call("aten::gather.out", t(3, 4), 1, torch.tensor([[0, 3], [1, 1]]), False)
    call("aten::index.Tensor_out", t(3, 4, 5), [None, torch.tensor([[0, 3], [1, -1]])])
    call("aten::index.Tensor_out", t(3, 4, 5), [torch.tensor([0, 2]), None, torch.tensor([4, 1])])
    call("aten::index.Tensor_out", t(3, 4, 5), [torch.tensor([0, 2]), torch.tensor([[3], [1]])])

    index = torch.tensor([[0, 2, 1], [2, 0, 0]])
    call("aten::scatter.src_out", t(3, 4), 0, torch.tensor([[0, 2, 1], [2, 0, 0]]), t(2, 3))
    call("aten::scatter.value_out", t(3, 4), 1, index, 9.5)
    call("aten::scatter_add.out", t(3, 4), 1, index, t(2, 3))
    call("aten::index_put.out", t(4, 5), [torch.tensor([0, 3]), torch.tensor([1, -1])], t(2), False)
    call("aten::index_put.out", t(3, 4, 5), [None, torch.tensor([1, 1, 2])], t(3, 1, 5), True)
    call("aten::index_put.out", t(3, 4, 5), [torch.tensor([2]), None, torch.tensor([4, 1])], t(()), False)


def made_from_nothing():
    """Tensors that have no operand, and triangles."""
    call("aten::full.out", [2, 3], 1.5)
    call("aten::full.out", [], 7, dtypes=(torch.int64,))
    call("aten::full_like.out", t(2, 3), -2.0, None)
    call("aten::fill.Scalar_out", t(2, 3), 4.0)
    call("aten::zeros.out", [2, 2])
    call("aten::ones.out", [3], dtypes=(torch.bool,))
    call("aten::scalar_tensor.out", 2.5)
    call("aten::arange.out", 5, dtypes=(torch.int64,))
    call("aten::arange.start_out", 1.0, 3.0, 0.5)
    call("aten::arange.start_out", 7, -2, -3, dtypes=(torch.int64,))
    call("aten::tril.out", t(2, 3, 4), 0)
    call("aten::tril.out", t(3, 4), -1)
    call("aten::tril.out", t(3, 4), 2)


def masks_and_counts():
    """Outputs whose sizes depend on data."""
    call("aten::masked_select.out", t(3, 4), t(4, dtype=torch.bool))
    call("aten::masked_select.out", ints(2, 3), torch.zeros(2, 3, dtype=torch.bool), dtypes=(torch.int64,))
    call("aten::masked_scatter.out", t(3, 4), t(3, 4, dtype=torch.bool), t(12))
    call("aten::masked_scatter.out", ints(2, 3), torch.tensor([True, False, True]), ints(4), dtypes=(torch.int64,))
    call("aten::nonzero.out", torch.tensor([[0.0, 1.0, 0.0], [math.nan, 0.0, -2.0]]), dtypes=(torch.int64,))
    call("aten::nonzero.out", t(7, dtype=torch.bool), dtypes=(torch.int64,))
    call("aten::repeat_interleave.Tensor_out", torch.tensor([2, 0, 3, 1]), None, dtypes=(torch.int64,))
    call("aten::repeat_interleave.Tensor_out", torch.tensor([1, 2], dtype=torch.int32), 3, dtypes=(torch.int32,))


def copies_of_blocks():
    """Copies of more than one block, for each size of element."""
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        call("aten::permute_copy.out", ints(3, 33, 35, dtype=dtype), [2, 0, 1], dtypes=(dtype,))
    call("aten::clone.out", ints(2, 35, 3, 33).to(memory_format=torch.channels_last), torch.contiguous_format,
         dtypes=(torch.int64,))
    call("aten::expand_copy.out", ints(2, 1, 40), [2, 3, -1], False, dtypes=(torch.int64,))


def rolls_and_crops():
    """Rolling by rows, by whole pieces and not at all; padding that crops."""
    call("aten::roll.out", t(2, 3, 4), [-2], [2])
    call("aten::roll.out", t(3, 2, 2), [4, 0], [0, 2])
    call("aten::roll.out", t(2, 3), [3], [1])
    call("aten::replication_pad2d.out", t(1, 2, 3, 4), [-1, 2, 1, -2])
    call("aten::reflection_pad2d.out", t(1, 2, 3, 4), [2, -1, 0, 1])
