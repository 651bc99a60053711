# SPDX-License-Identifier: Apache-2.0
"""Calls of operators under their other names, in place, and of losses."""

import torch

from inference.calls import I, T, call, in_place
from inference.elementwise import PAIRS

for op in """arctan2 greater_equal.Tensor less_equal.Tensor float_power.Tensor_Tensor heaviside
ldexp.Tensor special_xlogy special_xlog1py""".split():
    for a, b in PAIRS:
        call(op, a, b, optional=True)
for op in """multiply.Tensor subtract.Tensor divide.Tensor true_divide.Tensor arctan2 heaviside
eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor greater.Tensor greater_equal.Tensor
less.Tensor less_equal.Tensor not_equal.Tensor""".split():
    call(in_place(op), T(2, 3), T(3))
call("float_power_.Tensor", T(2, 3, dt="f64"), T(3))
call("float_power_.Scalar", T(2, 3, dt="f64"), 2)
call("ldexp_", T(2, 3), I(3))
call("ldexp.Tensor", T(2, dt="f16"), I(2))
call("ldexp.Tensor", I(2), I(2))
for op in """multiply subtract divide true_divide eq ne lt le gt ge greater greater_equal less
less_equal not_equal""".split():
    call(op + ".Scalar", T(2, 3), 2)
    call(op + ".Scalar", I(2, 3), 1.5)
    call(op + "_.Scalar", T(2, 3), 2)
call("xlogy_.Scalar_Other", T(2), 2.0)
for op in ("xlogy.Scalar_Other", "special_xlogy.other_scalar", "special_xlog1py.other_scalar"):
    call(op, T(2), 2.0)
    call(op, I(2), 2)
for op in ("xlogy.Scalar_Self", "special_xlogy.self_scalar", "special_xlog1py.self_scalar"):
    call(op, 2.0, T(2))
call("float_power.Tensor_Scalar", I(2), 2)
call("float_power.Scalar", 2, T(2, dt="f16"))
call("clip_", T(2, 3), 0.0, 6.0)
call("clip.Tensor", T(2, 3), T(3))
call("clip_.Tensor", T(2, 3), T(3))
for op in ("special_entr", "special_ndtr", "isreal"):
    for dtype in ("f32", "i64", "f16", "bool"):
        call(op, T(2, dt=dtype), optional=True)
call("special_round", T(2), decimals=1)
for op in ("special_softmax", "special_log_softmax"):
    call(op, T(2, 3), 1)
    call(op, T(2, 3, dt="f16"), 1, dtype=torch.float32)
call("special_logsumexp", T(2, 3), [1])
call("gelu_", T(2, 3))
call("cumprod_", T(2, 3), 1)
for dims in (None, [0], [0, 1]):
    call("nanmean", T(2, 3), dims, True)
    call("nanmean", T(2, 3, dt="f16"), dims)

# Products.
call("ger", T(2), T(3))
call("vdot", T(3), T(3))
call("inner", T(2, 3), T(4, 5, 3))
call("inner", T(3), T(3))
call("inner", T(), T(2, 3))
call("inner", T(2, 3), T())
for op in ("addr", "addr_"):
    call(op, T(2, 3), T(2), T(3), beta=2)
call("addr", T(3), T(2), T(3))
for op in ("addbmm", "addbmm_"):
    call(op, T(3, 4), T(2, 3, 5), T(2, 5, 4))
call("addbmm", T(4), T(2, 3, 5), T(2, 5, 4))
call("baddbmm_", T(2, 3, 4), T(2, 3, 5), T(2, 5, 4))
call("addmv_", T(2), T(2, 3), T(3))
for op in ("chain_matmul", "linalg_multi_dot"):
    call(op, [T(2, 3), T(3, 4), T(4, 5)])
call("linalg_multi_dot", [T(3), T(3, 4), T(4)])
call("linalg_vecdot", T(2, 3), T(3))
call("linalg_vecdot", T(2, 3), T(2, 1), dim=0)
for op in ("column_stack", "dstack", "row_stack"):
    for parts in ([T(), T()], [T(3), T(3)], [T(2, 3), T(2, 3)], [T(2, 3, 1), T(2, 3, 1)]):
        call(op, parts)
    call(op, [T(2, 3), T(2)], optional=True)
for op in ("atleast_1d", "atleast_2d", "atleast_3d"):
    for x in (T(), T(3), T(2, 3), T(2, 3, 4), T(2, 3, 4, 5)):
        call(op, x)

# Losses.
for how in (0, 1, 2):
    for op in """mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div""".split():
        call(op, T(2, 3), T(2, 3), how)
    call("binary_cross_entropy", T(2, 3, fill=0.5), T(2, 3), None, how)
    call("binary_cross_entropy_with_logits", T(2, 3), T(2, 3), T(2, 3), T(3), how)
    call("hinge_embedding_loss", T(2, 3), T(2, 3, fill=1), 1.0, how)
    call("margin_ranking_loss", T(2, 3), T(2, 3), T(2, 3), 0.0, how)
    call("poisson_nll_loss", T(2, 3), T(2, 3), True, False, 1e-8, how)
    for op in ("cross_entropy_loss", "nll_loss_nd"):
        call(op, T(2, 3), I(2), None, how)
        call(op, T(2, 3, 4, 4), I(2, 4, 4), T(3), how)
        call(op, T(3), I(), None, how)
    call("cross_entropy_loss", T(2, 3), T(2, 3), None, how)
    call("cross_entropy_loss", T(2, 3, 4), T(2, 3, 4), T(3), how)
