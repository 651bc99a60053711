# SPDX-License-Identifier: Apache-2.0
"""Calls on samples and lists of tensors, and of operators in place and under other names."""

import torch
import transformers.integrations.moe  # noqa: F401

from inference.calls import B, I, T, call

# Derivatives and integrals.
for own in (T(4, 5), I(4, 5), T(4, 5, dt="f16")):
    call("gradient.scalarint", own)
    call("gradient.scalarint", own, spacing=2.0, dim=1, edge_order=2)
    call("gradient.scalararray", own, spacing=0.5, dim=[1, 0])
    call("gradient.array", own, dim=[0])
    call("gradient.scalarrayint", own, spacing=[0.5, 2.0])
    call("gradient.scalarrayarray", own, spacing=[1, 2], dim=[1, 0])
    call("gradient.tensorarrayint", own, spacing=[T(4), T(5)])
    call("gradient.tensorarray", own, spacing=[T(5, dt="f64")], dim=[1])
for op in ("trapezoid", "trapz", "cumulative_trapezoid"):
    for own in (T(3, 4), I(3, 4), T(3, 4, dt="f16")):
        call(op + ".dx", own)
        call(op + ".dx", own, dx=0.5, dim=0)
        call(op + ".x", own, T(4))
        call(op + ".x", own, I(3), dim=0)
        call(op + ".x", own, T(3, 4, dt="f64"))
    call(op + ".x", T(2, 3, 4), T(3, 4))

# Lists of tensors.
for n in "123":
    call(f"atleast_{n}d.Sequence", [T(), I(2), T(2, 3), T(2, 3, 4)])
call("pad_sequence", [T(3, 2), T(1, 2)])
call("pad_sequence", [T(3), T(1)], True, 1.5, "left")

# Made from numbers.
for op, last in (("linspace", ()), ("logspace", (2.0,))):
    for dtype in (None, torch.int64, torch.float64):
        call(op + ".Tensor_Tensor", T(), I(), 5, *last, dtype=dtype)
        call(op + ".Tensor_Scalar", T(), 2, 5, *last, dtype=dtype)
        call(op + ".Scalar_Tensor", 1.5, T(), 5, *last, dtype=dtype)
for op in ("bartlett_window", "kaiser_window"):
    call(op, 9)
    call(op + ".periodic", 9, False, dtype=torch.float64)
call("kaiser_window.beta", 9, True, 8.0)
for op in ("fft_fftfreq", "fft_rfftfreq"):
    call(op, 8)
    call(op, 9, 0.5, dtype=torch.float64)

# In place and under other names.
for op in ("__iand__", "__ior__", "__ixor__"):
    call(op + ".Tensor", B(2, 3), B(3))
    call(op + ".Scalar", I(2, 3), 3)
for op in ("__ilshift__", "__irshift__"):
    call(op + ".Tensor", I(2, 3), I(3))
    call(op + ".Scalar", I(2, 3), 3)
for op in ("bitwise_left_shift_", "bitwise_right_shift_"):
    call(op + ".Tensor", I(2, 3), I(3))
    call(op + ".Tensor_Scalar", I(2, 3), 3)
for op in ("divide", "divide_"):
    for mode in (None, "floor", "trunc"):
        call(op + ".Tensor_mode", T(2, 3), T(3, fill=2), rounding_mode=mode)
        call(op + ".Scalar_mode", T(2, 3), 2, rounding_mode=mode)
call("divide.Tensor_mode", I(2, 3), I(3, fill=2), rounding_mode="floor")
for op in ("alpha_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"):
    call(op, T(2, 3, 4), 0.5, False)
call("moveaxis.intlist", T(2, 3, 4), [0, 1], [2, 0])
call("linalg_diagonal", T(2, 3, 4), offset=1)
call("linalg_matmul", T(2, 3, 4), T(4, 2))
for op in ("matrix_power", "linalg_matrix_power"):
    call(op, T(2, 3, 3), 5)
call("pdist", T(4, 3))
for op in ("renorm", "renorm_"):
    call(op, T(2, 3), 2.0, 0, 1.0)
call("isin.Tensor_Scalar", I(2, 3), 2)
call("sum_to_size", I(2, 3), [1, 3])
call("sum_to_size", B(2, 3), [3])
call("sum_to_size", B(2, 3), [2, 3])
call("sum_to_size", B(), [])
call("tensordot", T(2, 1, 3), T(4, 2), [1], [0])
call("einsum", "...ik,...j->ij", [I(1, 2, 3), I(3)])

# Of groups, and truths of all.
call("histc", T(2, 3), 7, -1, 2.5)
call("histc", T(5, dt="f16"))
call("_grouped_mm", T(6, 4), T(3, 4, 8), T(3, dt="i32", fill=2))
call("_grouped_mm", T(3, 5, 4), T(3, 4, 8))
call("transformers.grouped_mm_fallback.default", T(6, 4), T(3, 4, 5), I(3, fill=2))
for op in ("_is_all_true", "_is_any_true"):
    call(op, B(2, 3))
