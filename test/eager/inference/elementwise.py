# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that work element by element."""

import torch

from inference.calls import B, I, T, call, in_place

UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad rad2deg
digamma erf erfc erfinv exp exp2 expm1 floor frac lgamma log log10 log1p log2
logical_not logit nan_to_num neg reciprocal round rsqrt sgn sign sin sinc sinh
sqrt square tan trunc sigmoid tanh""".split()
for op in UNARY:
    call(op, T(2, 3))
    for dtype in ("i64", "f16", "bool", "u8"):
        call(op, T(2, 3, dt=dtype), optional=True)
    call(op, T())
    call(op + "_", T(2, 3))
for op in ("isfinite isinf isnan isneginf isposinf signbit positive "
           "relu silu hardswish hardsigmoid mish selu log_sigmoid gelu relu6 "
           "elu celu leaky_relu hardtanh softplus softshrink hardshrink "
           "alias detach clone lift_fresh_copy lift_fresh contiguous "
           "resolve_conj resolve_neg real lift alias_copy detach_copy").split():
    call(op, T(2, 3))
    call(op, T(4, dt="i32"), optional=True)
for op in ("relu_ silu_ hardswish_ hardsigmoid_ mish_ selu_ relu6_ elu_ celu_ "
           "leaky_relu_ hardtanh_ detach_").split():
    call(op, T(2, 3))
call("requires_grad_", T(2))
call("round.decimals", T(2, 3), decimals=2)
SECOND_NAMES = """absolute negative arccos arccosh arcsin arcsinh arctan arctanh
fix""".split()
for op in SECOND_NAMES:
    call(op + "_", T(2, 3))
for op in SECOND_NAMES + """special_expit special_erf special_erfc special_erfinv
special_exp2 special_expm1 special_log1p special_logit special_sinc special_digamma
special_psi special_gammaln""".split():
    call(op, T(2, 3))
    for dtype in ("i64", "f16", "bool"):
        call(op, T(dt=dtype), optional=True)
for op in ("mvlgamma", "special_multigammaln"):
    call(op, T(2, 3, fill=3), 2)
    call(op, I(3, fill=4), 1)
call("mvlgamma_", T(2, 3, fill=3), 2)
call("special_logit", T(2), 1e-6)
call("bitwise_not", T(3, dt="i32"))
call("bitwise_not", B(3))
call("bitwise_not_", T(3, dt="i32"))
call("gelu", T(2, 3), approximate="tanh")

# Promotion.
PAIRS = [(T(2, 3), T(2, 3)), (T(2, 3), T(3)), (T(4, 1), T(1, 5)),
         (T(2, 3, dt="f16", fill=1), T(fill=1)),
         (T(3, dt="i32", fill=1), I(fill=1)),
         (T(3, dt="i32", fill=1), T(3, dt="f16", fill=1)),
         (T(3, dt="u8", fill=1), T(3, dt="i8", fill=1)),
         (T(3, dt="f16", fill=1), T(3, dt="bf16", fill=1)),
         (B(3), I(3, fill=1)), (I(fill=1), T(dt="i32", fill=1)), (B(2), B(2)),
         (I(2, fill=1), T(dt="f64", fill=1)), (T(0, 3), T(1, 3))]
BINARY = """add.Tensor sub.Tensor mul.Tensor div.Tensor true_divide.Tensor
divide.Tensor multiply.Tensor subtract.Tensor rsub.Tensor floor_divide
fmod.Tensor remainder.Tensor maximum minimum max.other min.other fmax fmin
atan2 hypot copysign.Tensor logaddexp logaddexp2 xlogy.Tensor
pow.Tensor_Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor
greater.Tensor less.Tensor not_equal.Tensor isclose logical_and logical_or
logical_xor bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor
__and__.Tensor __or__.Tensor __xor__.Tensor __lshift__.Tensor
__rshift__.Tensor bitwise_left_shift.Tensor
bitwise_right_shift.Tensor""".split()
for op in BINARY:
    for a, b in PAIRS:
        call(op, a, b, optional=True)
    for mode in (None, "floor", "trunc"):
        if op == "div.Tensor":
            for a, b in PAIRS:
                call("div.Tensor_mode", a, b, rounding_mode=mode,
                     optional=True)
for op in """add.Tensor sub.Tensor mul.Tensor div.Tensor fmod.Tensor
remainder.Tensor atan2 hypot copysign.Tensor xlogy.Tensor logical_and
logical_or logical_xor""".split():
    call(in_place(op), T(2, 3), T(3))
for op in ("bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor"):
    call(in_place(op), B(2, 3), B(3))
    call(in_place(op.replace("Tensor", "Scalar")), I(2, 3), 3)
call("pow_.Tensor", T(2), T(2))
call("pow_.Scalar", T(2), 2)
call("floor_divide_.Tensor", T(2, fill=1), T(2, fill=1))
call("div_.Tensor_mode", T(2, fill=1), T(2, fill=1), rounding_mode="floor")
call("div_.Scalar_mode", T(2, fill=1), 2, rounding_mode="floor")
for op in """add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar
fmod.Scalar remainder.Scalar pow.Tensor_Scalar copysign.Scalar
floor_divide.Scalar eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar
bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar __and__.Scalar
__or__.Scalar __xor__.Scalar __lshift__.Scalar __rshift__.Scalar
bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar""".split():
    for a in (T(2, 3), I(3, fill=1), B(3), T(3, dt="f16"), T(3, dt="u8"),
              I()):
        for number in (2, 1.5, True):
            call(op, a, number, optional=True)
for op in "add sub mul div fmod remainder copysign".split():
    call(op + "_.Scalar", T(2), 2.0)
for mode in (None, "floor", "trunc"):
    call("div.Scalar_mode", I(2), 3, rounding_mode=mode)
call("remainder.Scalar_Tensor", 5, I(2, fill=3))
call("pow.Scalar", 2, T(3))
call("pow.Scalar", 2.0, I(3))
for op in ("lerp.Tensor", "lerp_.Tensor"):
    call(op, T(2, 3), T(2, 3), T(3))
for op in ("lerp.Scalar", "lerp_.Scalar"):
    call(op, T(2, 3), T(3), 0.5)
for op in ("addcmul", "addcmul_", "addcdiv", "addcdiv_"):
    call(op, T(2, 3), T(3), T(2, 1), value=2)
call("addcmul", I(3), I(3), I(3))
for op in ("clamp", "clamp_", "clip"):
    call(op, T(2, 3), 0.0, 6.0)
    call(op, T(2, 3), None, 1)
call("clamp", I(3), 0, 5)
call("clamp", I(3), 0.5)
call("clamp", B(3), 1, optional=True)
for op in ("clamp.Tensor", "clamp_.Tensor"):
    call(op, T(2, 3), T(3), T(2, 1, fill=1))
for name in ("clamp_min", "clamp_max"):
    call(name, T(2, 3), 0.5)
    call(name, I(2, 3), 0.5)
    call(name + "_", T(2, 3), 0.5)
    call(name + ".Tensor", T(2, 3), T(3))
    call(name + "_.Tensor", T(2, 3), T(3))
call("where.self", B(2, 3), T(3), T(2, 1))
call("where.self", B(3), I(3), T())
call("where.self", B(3), T(3, dt="f16"), T(3))
call("where.ScalarOther", B(2), T(2, dt="f16"), -1e4)
call("where.ScalarOther", B(2), I(2), 1.5)
call("where.ScalarSelf", B(2), 1, T(2))
call("where.Scalar", B(2), 1, 2)
call("where.Scalar", B(2), 1.0, 2)

# Activations.
call("glu", T(2, 6, 3), 1)
call("prelu", T(1, 4, 3), T(4))
call("_prelu_kernel", T(1, 4, 3), T(1, 4, 1))
for op in ("threshold", "threshold_"):
    call(op, T(2), 0.5, 1.0)
for op in ("softmax.int", "log_softmax.int"):
    call(op, T(2, 3), -1)
    call(op, T(2, 3, dt="f16"), 1, torch.float32)
    call(op, I(2, 3), 0, torch.float32)
call("_safe_softmax", T(2, 3), 1)
call("_safe_softmax", T(2, 3, dt="f16"), -1, torch.float32)
for op in ("_softmax", "_log_softmax"):
    call(op, T(2, 3), -1, False)
    call(op, T(), 0, False)
for op in ("dropout", "dropout_", "feature_dropout", "feature_dropout_",
           "alpha_dropout"):
    call(op, T(2, 3, 4), 0.5, False)
call("native_dropout", T(2, 3), 0.5, False)
