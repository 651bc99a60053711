# SPDX-License-Identifier: Apache-2.0
"""Calls of indexing and factories."""

import torch

from inference.calls import B, I, T, call

# Indexing.
for op in ("index.Tensor", "_unsafe_index.Tensor"):
    call(op, T(5, 6, 7), [I(2, 3)])
    call(op, T(5, 6, 7), [None, I(4), I(2, 1)])
    call(op, T(5, 6, 7), [I(4), None, I(4)])
    call(op, T(5, 6, 7), [I(), I(3)])
call("index.Tensor", T(5, 6, 7), [None, T(4, dt="i32")])
for op in ("index_put", "index_put_", "_unsafe_index_put"):
    call(op, T(5, 6), [I(3)], T(6))
    call(op, T(5, 6), [None, I(3)], T(5, 3))
call("index_put", T(5, 6), [B(5, 6)], T())
call("index_select", T(5, 6), 1, I(3))
call("index_select", T(5, 6), -1, I())
call("index_select", T(), 0, I())
for op in ("index_copy", "index_add"):
    call(op, T(5, 6), 0, I(2), T(2, 6))
    call(op + "_", T(5, 6), 0, I(2), T(2, 6))
for op in ("index_fill", "index_fill_"):
    call(op + ".int_Scalar", T(5, 6), 0, I(2), 1.0)
    call(op + ".int_Tensor", T(5, 6), 0, I(2), T())
call("gather", T(5, 6), 1, I(5, 2))
for name in ("scatter", "scatter_"):
    call(name + ".src", T(5, 6), 1, I(5, 2), T(5, 2))
    call(name + ".value", T(5, 6), 1, I(5, 2), 1.0)
for op in ("scatter_add", "scatter_add_"):
    call(op, T(5, 6), 1, I(5, 2), T(5, 2))
call("scatter_reduce.two", T(5, 6), 1, I(5, 2), T(5, 2), "sum")
call("masked_fill.Scalar", T(3), B(2, 3), 1.0)
call("masked_fill.Scalar", T(2, 3), B(3), float("-inf"))
call("masked_fill.Tensor", T(2, 3), B(3), T())
call("masked_fill_.Scalar", T(2, 3), B(3), 1.0)
call("masked_fill_.Tensor", T(2, 3), B(3), T())
for op in ("masked_scatter", "masked_scatter_"):
    call(op, T(2, 3), B(3), T(6))
call("select_scatter", T(5, 6), T(6), 0, 1)
call("slice_scatter", T(5, 6), T(2, 6), 0, 1, 3)
call("diagonal_scatter", T(3, 4), T(3))
call("as_strided_scatter", T(3, 4), T(3), [3], [1])
call("embedding", T(10, 4), I(2, 3))
call("embedding", T(10, 4), T(2, dt="i32"), 3)
# Without include_last_offset: with it eager results for gradients have other sizes
# than the ones that torch.export records.
for mode in (0, 1, 2):
    bags = T(10, 4), I(6), I(3)
    call("embedding_bag", *bags, False, mode)
    for padding in (None, 3):
        call("embedding_bag.padding_idx", *bags, False, mode, False, None,
             False, padding)
    for op in ("_embedding_bag", "_embedding_bag_forward_only"):
        call(op, *bags, False, mode, False, None, False, 2)
call("embedding_bag", T(10, 4, dt="f64"), I(6), I(3))
call("embedding_bag", T(10, 4), I(6), I(3), False, 0, False, T(6))
call("take", T(2, 3), I(4))
call("take_along_dim", T(2, 3), I(2, 1), 1)
call("take_along_dim", T(2, 3), I(1, 5), 1)
call("take_along_dim", T(2, 3), I(4))
call("one_hot", I(2, 3), 5)
for op in ("bucketize.Tensor",):
    call(op, T(2, 3), T(4))
    call(op, T(2, 3), T(4), out_int32=True)
call("searchsorted.Tensor", T(4), T(2, 3))
call("isin.Tensor_Tensor", I(2, 3), I(4))

# Factories.
call("arange", 5)
call("arange", 5.0)
call("arange", 2.5)
call("arange", 5, dtype=torch.float32)
call("arange.start", 2, 9)
call("arange.start_step", 0, 9, 2)
call("arange.start_step", 9, 0, -2)
call("arange.start_step", 0, 1, 0.3)
for fill in (1, 1.0, True):
    call("full", [2, 3], fill)
call("full", [], 1, dtype=torch.float16)
call("full_like", I(2), 1.5)
call("full_like", I(2), 1.5, dtype=torch.float32)
for op in ("zeros", "ones", "empty.memory_format", "rand", "randn"):
    call(op, [2, 3])
    call(op, [2], dtype=torch.float16)
for op in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    call(op, T(2, 3))
    call(op, T(2, 3), dtype=torch.float16)
call("empty_permuted", [2, 3], [1, 0])
for op in ("new_empty", "new_zeros", "new_ones"):
    call(op, I(2), [3, 4])
call("new_full", I(2), [3], 1.5)
call("new_full", I(2), [3], 1.5, dtype=torch.float32)
call("eye", 3)
call("eye.m", 3, 4)
call("linspace", 0, 1, 5)
call("scalar_tensor", 3)
call("scalar_tensor", 3, dtype=torch.int64)
call("hann_window", 8)
call("hamming_window", 8)
for op in ("hann_window", "hamming_window", "blackman_window"):
    call(op + ".periodic", 8, False)
call("blackman_window", 8, dtype=torch.float64)
call("hamming_window.periodic_alpha", 8, True, 0.5)
call("hamming_window.periodic_alpha_beta", 8, True, 0.5, 0.4)
call("logspace", 0, 1, 5)
call("logspace", 0, 1, 5, 2.0, dtype=torch.float16)
call("fill_diagonal_", T(3, 4), 1.0)
call("fill_diagonal_", T(3, 3, 3), 1, True)
for op in ("fill.Scalar", "fill_.Scalar"):
    call(op, T(2), 1.0)
for op in ("fill.Tensor", "fill_.Tensor"):
    call(op, T(2), T())
call("zero", T(2))
call("zero_", T(2))
