# SPDX-License-Identifier: Apache-2.0
"""Calls of views, copies and changes of shape."""

import torch

from inference.calls import I, T, call

# Views.
for op in ("view", "reshape", "_unsafe_view", "view_copy"):
    call(op, T(2, 3, 4), [6, 4])
    call(op, T(2, 3, 4), [2, -1])
    call(op, T(), [1, 1])
    call(op, T(0, 3), [3, 0])
call("_reshape_alias", T(2, 3), [3, 2], [2, 1])
call("view.dtype", T(3), torch.int32)
for op in ("view_as", "reshape_as"):
    call(op, T(2, 6), I(3, 4))
call("flatten.using_ints", T(2, 3, 4, 5), 1)
call("flatten.using_ints", T(2, 3, 4, 5), 1, 2)
call("flatten.using_ints", T())
call("unflatten.int", T(2, 12), 1, [3, -1])
call("ravel", T(2, 3))
for op in ("permute", "permute_copy"):
    call(op, T(2, 3, 4), [2, 0, -2])
for op in ("transpose.int", "transpose_.default", "swapaxes", "swapdims",
           "transpose_copy.int"):
    call(op, T(2, 3, 4), 0, -1)
for op in ("t", "t_", "t_copy"):
    call(op, T(2, 3))
    call(op, T(3))
call("numpy_T", T(2, 3, 4))
call("mT", T(2, 3, 4))
call("adjoint", T(2, 3, 4))
call("movedim.int", T(2, 3, 4, 5), 0, -2)
call("movedim.intlist", T(2, 3, 4, 5), [0, 1], [3, 0])
call("moveaxis.int", T(2, 3, 4), 2, 0)
for op in ("squeeze", "squeeze_", "squeeze_copy"):
    call(op, T(1, 3, 1))
    call(op + ".dim", T(1, 3, 1), -1)
    call(op + ".dim", T(1, 3, 1), 1)
    call(op + ".dims", T(1, 3, 1), [0, 1, 2])
for op in ("unsqueeze", "unsqueeze_", "unsqueeze_copy"):
    call(op, T(2, 3), -1)
    call(op, T(), 0)
for op in ("expand", "expand_copy"):
    call(op, T(1, 3), [4, 2, -1])
    call(op, T(1), [0])
call("broadcast_to", T(1, 3), [4, 2, 3])
call("expand_as", T(1, 3), T(2, 3))
for op in ("slice.Tensor", "slice_copy.Tensor"):
    call(op, T(5, 3), 0, 1, 9223372036854775807)
    call(op, T(5, 3), 0, -3, -1)
    call(op, T(5, 3), 0, None, None, 2)
    call(op, T(5, 3), -1, 2, 1)
    call(op, T(5, 3), 0, -100, 100, 3)
for op in ("select.int", "select_copy.int"):
    call(op, T(5, 3), 0, -1)
    call(op, T(5), 0, 2)
for op in ("narrow", "narrow_copy"):
    call(op, T(5, 3), 0, 1, 3)
call("narrow", T(5, 3), 0, -2, 2)
for op in ("diagonal", "diagonal_copy"):
    call(op, T(3, 4))
    call(op, T(3, 4, 5), 1, 0, 2)
    call(op, T(3, 4), -2)
    call(op, T(3, 4), 9)
for op in ("unfold", "unfold_copy"):
    call(op, T(2, 9), 1, 3, 2)
    call(op, T(), 0, 1, 1)
for op in ("as_strided", "as_strided_copy"):
    call(op, T(12), [2, 3], [6, 1], 3)
for op in ("split.Tensor", "split_copy.Tensor", "unsafe_split.Tensor"):
    call(op, T(5, 3), 2)
    call(op, T(5, 4), 9, -1)
call("split.Tensor", T(0, 3), 2)
call("split.Tensor", T(0, 3), 0)
for op in ("split.sizes", "split_with_sizes", "split_with_sizes_copy",
           "unsafe_split_with_sizes"):
    call(op, T(5, 3), [2, 3])
    call(op, T(5, 3), [1, 0, 2], 1)
for op in ("chunk", "unsafe_chunk"):
    call(op, T(5, 3), 3)
    call(op, T(6, 3), 4)
    call(op, T(0, 3), 4)
call("tensor_split.sections", T(7), 3)
call("tensor_split.indices", T(7, 2), [2, 5])
call("tensor_split.indices", T(7, 2), [5, 2, -1])
for op in ("unbind.int", "unbind_copy.int"):
    call(op, T(3, 2))
    call(op, T(3, 2), -1)

# Casts and copies.
call("_to_copy", T(2))
call("_to_copy", T(2), dtype=torch.int64)
call("to.dtype", T(2), torch.float16)
call("to.dtype_layout", T(2), dtype=torch.int32)
call("to.device", T(2), torch.device("cpu"), torch.float64)
call("to.other", T(2), I(1))
call("type_as", T(2), I(1))
for op in ("copy", "copy_"):
    call(op, T(2, 3), I(3))

# Shapes.
for op in ("cat", "concat", "concatenate"):
    call(op, [T(2, 3), T(4, 3)])
    call(op, [T(2, 3), T(2, 1)], -1)
    call(op, [T(2, 3), I(2, 3), T(0)], 0)
    call(op, [T(0), T(0)])
call("stack", [T(2, 3), T(2, 3)], -1)
call("stack", [T(), I()])
call("hstack", [T(2, 3), T(2, 1)])
call("hstack", [T(2), T(3)])
call("hstack", [T(), T(3)])
call("vstack", [T(3), T(2, 3)])
for op in ("repeat", "tile"):
    call(op, T(2, 3), [4, 1, 2])
call("tile", T(2, 3), [2])
call("repeat_interleave.self_int", T(2, 3), 2)
call("repeat_interleave.self_int", T(2, 3), 2, 1)
call("roll", T(2, 3), [1], [0])
call("flip", T(2, 3), [0])
call("rot90", T(2, 3))
call("rot90", T(2, 3), 2)
for op in ("tril", "triu", "tril_", "triu_"):
    call(op, T(3, 3))
for op in ("hsplit", "vsplit", "dsplit"):
    call(op + ".int", T(4, 4, 4), 2)
    call(op + ".array", T(4, 4, 4), [1, 3])
call("hsplit.int", T(4), 2)
call("hsplit.array", T(4), [3])
call("meshgrid", [T(2), T(3)])
call("meshgrid.indexing", [T(2), T(3), T()], indexing="xy")
call("meshgrid.indexing", [T(2), T(3)], indexing="ij")
call("broadcast_tensors", [T(2, 1), I(3)])
call("pixel_shuffle", T(1, 8, 2, 3), 2)
call("pixel_unshuffle", T(1, 2, 4, 6), 2)
call("channel_shuffle", T(1, 4, 2, 2), 2)
call("native_channel_shuffle", T(1, 4, 2, 2), 2)
call("diag_embed", T(2, 3))
call("diag_embed", T(2, 3), -1, 0, 2)
call("constant_pad_nd", T(2, 3), [1, 2], 0)
call("constant_pad_nd", T(2, 3), [-1, 0, 1, 1], 1.0)
for mode in ("constant", "reflect", "replicate", "circular"):
    call("pad", T(1, 2, 5, 6), [1, 2, 0, 1], mode)
call("reflection_pad1d", T(2, 5), [1, 2])
call("reflection_pad2d", T(2, 5, 6), [1, 2, 3, 0])
call("reflection_pad3d", T(1, 2, 5, 6, 7), [1, 2, 3, 0, 1, 1])
call("replication_pad1d", T(2, 5), [1, 2])
call("replication_pad2d", T(2, 5, 6), [9, 2, 3, 0])
call("replication_pad3d", T(1, 2, 5, 6, 7), [1, 2, 3, 0, 1, 1])
