# SPDX-License-Identifier: Apache-2.0
"""Calls of reductions and products."""

import torch

from inference.calls import B, I, T, call

# Reductions.
for op in ("sum", "prod"):
    for dtype in ("f32", "f16", "i32", "bool"):
        call(op, T(2, 3, dt=dtype))
    call(op, I(2), dtype=torch.float32)
call("sum.dim_IntList", T(2, 3, 4), [1, -1])
call("sum.dim_IntList", I(2, 3), [0], True)
call("sum.dim_IntList", T(2, 3), None)
call("sum.dim_IntList", T(2, 3), [], True)
call("sum.dim_IntList", T(), [0])
call("prod.dim_int", T(2, 3), 1, True)
call("mean", T(2, 3))
call("mean", I(2, 3), dtype=torch.float32)
call("mean.dim", T(2, 3, 4), [-1, -2], True)
call("mean.dim", T(2, 3), None)
for op in ("amax", "amin"):
    call(op, T(2, 3))
    call(op, I(2, 3), [1], True)
call("aminmax", T(2, 3))
call("aminmax", T(2, 3), dim=0, keepdim=True)
for op in ("max", "min", "median"):
    call(op, T(2, 3))
    call(op + ".dim", T(2, 3), 1)
    call(op + ".dim", I(2, 3), 0, True)
for op in ("argmax", "argmin"):
    call(op, T(2, 3))
    call(op, T(2, 3), 1)
    call(op, T(2, 3), -1, True)
    call(op, T(2, 3), None, True)
for op in ("any", "all"):
    call(op, B(2, 3))
    call(op, T(2, dt="u8"))
    call(op + ".dim", T(2, 3), 1, True)
    call(op + ".dims", T(2, 3), [0, 1])
    call(op + ".dims", T(2, 3), None)
for op in ("var", "std"):
    call(op, T(2, 3))
    call(op + ".dim", T(2, 3), [1], False, True)
    call(op + ".correction", T(2, 3), [1], correction=0)
    call(op + ".correction", T(2, 3))
call("var_mean.correction", T(2, 3), [1], correction=0, keepdim=True)
call("var_mean.dim", T(2, 3), [1])
call("std_mean.correction", T(2, 3), [0])
call("logsumexp", T(2, 3), [1], True)
call("logsumexp", I(2, 3), [1])
call("norm.ScalarOpt_dim", T(2, 3), 2, [1], True)
call("norm.Scalar", T(2, 3))
call("frobenius_norm.dim", T(2, 3), [0, 1])
call("linalg_vector_norm", T(2, 3), 2, [1], True)
call("linalg_vector_norm", T(2, 3), 2.0, None)
call("linalg_vector_norm", T(2, 3, dt="f16"), 2, [0], dtype=torch.float32)
call("count_nonzero.dim_IntList", T(2, 3), [1])
for op in ("cumsum", "cumprod"):
    call(op, T(2, 3), 1)
    call(op, T(2, 3, dt="i32"), -1)
    call(op, B(2), 0, dtype=torch.float32)
call("cumsum_", T(2, 3), 1)
call("logcumsumexp", T(2, 3), 1)
for op in ("cummax", "cummin"):
    call(op, T(2, 3), 1)
call("topk", T(2, 5), 3)
call("topk", T(2, 5), 1, 0)
call("topk", T(), 1)
call("sort", T(2, 5))
call("sort.stable", T(2, 5), stable=True, dim=0)
call("argsort", T(2, 5))
call("argsort.stable", T(2, 5), stable=True)

# Products.
call("linear", T(2, 3, 4), T(5, 4), T(5))
call("linear", T(4), T(5, 4))
call("linear", T(2, 4), T(4))
for a, b in [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)),
             ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)),
             ((5, 2, 3), (3,))]:
    call("matmul", T(*a), T(*b))
call("mm", T(2, 3), T(3, 4))
call("bmm", T(5, 2, 3), T(5, 3, 4))
call("mv", T(2, 3), T(3))
call("dot", T(3), T(3))
call("outer", T(3), T(4))
for op in ("addmm", "addmm_"):
    call(op, T(2, 4), T(2, 3), T(3, 4))
call("addmm", T(4), T(2, 3), T(3, 4), beta=2, alpha=1.5)
call("baddbmm", T(5, 1, 4), T(5, 2, 3), T(5, 3, 4))
call("addmv", T(2), T(2, 3), T(3))
for equation, sizes in [
        ("ij,jk->ik", [(2, 3), (3, 4)]), ("bhid,bhjd->bhij",
                                          [(1, 2, 3, 4), (1, 2, 5, 4)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]), ("ij,jk",
                                                      [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]), ("i,j->ij", [(2,), (3,)]), ("ij->", [(2, 3)]),
        ("b c h w -> b h w c".replace(" ", ""), [(1, 2, 3, 4)])]:
    call("einsum", equation, [T(*s) for s in sizes])
for a, b, here, there in (((2, 3, 4), (4, 5), [2], [0]),
                          ((2, 3), (3, 2), [0, 1], [-1, 0]),
                          ((2,), (3,), [], [])):
    call("tensordot", T(*a), T(*b), here, there)
for kept in (False, True):
    call("linalg_norm", T(2, 3), None, None, kept)
    call("linalg_norm", T(2, 3), None, [-1], kept)
    call("linalg_matrix_norm.str_ord", T(2, 3, 4), "fro", [-2, -1], kept)
ATTENTION = "scaled_dot_product_attention"
call(ATTENTION, T(2, 3, 5, 4), T(2, 3, 6, 4), T(2, 3, 6, 7))
call(ATTENTION, T(2, 5, 4), T(2, 6, 4), T(2, 6, 4), T(5, 6))
call(ATTENTION, T(2, 3, 5, 4), T(2, 3, 5, 4), T(2, 3, 5, 4), is_causal=True)
call(ATTENTION, T(1, 8, 5, 4), T(1, 2, 6, 4), T(1, 2, 6, 4), enable_gqa=True)
call("_scaled_dot_product_flash_attention_for_cpu", T(2, 3, 5, 4),
     T(2, 3, 6, 4), T(2, 3, 6, 4))
for op in ("_cdist_forward", "cdist"):
    call(op, T(5, 2, 3), T(1, 4, 3), 2.0, None)
call("_pdist_forward", T(4, 3))
