# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, rand, unary

# --- elementwise, one operand ---
positive = rand(2, 5, low=0.1, high=4.0)
unary("abs", "aten.abs.default(%x)", torch.abs)
unary("ceil", "aten.ceil.default(%x)", torch.ceil)
unary("floor", "aten.floor.default(%x)", torch.floor)
unary("exp", "aten.exp.default(%x)", torch.exp)
unary("log", "aten.log.default(%x)", torch.log, positive)
unary("sqrt", "aten.sqrt.default(%x)", torch.sqrt, positive)
unary("rsqrt", "aten.rsqrt.default(%x)", torch.rsqrt, positive)
unary("neg", "aten.neg.default(%x)", torch.neg)
unary("sin", "aten.sin.default(%x)", torch.sin)
unary("cos", "aten.cos.default(%x)", torch.cos)
unary("tanh", "aten.tanh.default(%x)", torch.tanh)
unary("sigmoid", "aten.sigmoid.default(%x)", torch.sigmoid)
unary("hardswish", "aten.hardswish.default(%x)", F.hardswish, rand(40, low=-5, high=5))
unary("hardsigmoid", "aten.hardsigmoid.default(%x)", F.hardsigmoid, rand(40, low=-5, high=5))
unary("silu", "aten.silu.default(%x)", F.silu)
unary("gelu_none", "aten.gelu.default(%x)", F.gelu)
unary("gelu_tanh", "aten.gelu.default(%x, approximate=\"tanh\")",
      lambda x: F.gelu(x, approximate="tanh"))
unary("relu", "aten.relu.default(%x)", torch.relu)
unary("relu6", "aten.relu6.default(%x)", F.relu6, rand(40, low=-8, high=8))
unary("hardtanh", "aten.hardtanh.default(%x, -0.5, 0.75)", lambda x: F.hardtanh(x, -0.5, 0.75))
unary("clamp_both", "aten.clamp.default(%x, -0.5, 1)", lambda x: torch.clamp(x, -0.5, 1))
unary("clamp_min", "aten.clamp.default(%x, 0.25)", lambda x: torch.clamp(x, min=0.25))
unary("clamp_max", "aten.clamp.default(%x, none, 0.25)", lambda x: torch.clamp(x, max=0.25))
unary("leaky_relu", "aten.leaky_relu.default(%x, 0.2)", lambda x: F.leaky_relu(x, 0.2))
unary("elu", "aten.elu.default(%x, 0.7)", lambda x: F.elu(x, 0.7))
unary("square", "aten.pow.Tensor_Scalar(%x, 2)", torch.square)
unary("power_of_half", "aten.pow.Tensor_Scalar(%x, 0.5)", torch.sqrt, positive)
unary("power_of_minus_half", "aten.pow.Tensor_Scalar(%x, -0.5)", torch.rsqrt, positive)
probability = torch.tensor([0.0, 1.0, -0.5, 1.5, 1e-7, 0.999999, 0.2, 0.5, 0.75, 0.9375])
unary("logit", "aten.logit.default(%x)", torch.logit, probability[4:])
unary("logit_eps", "aten.logit.default(%x, 1e-06)", lambda x: torch.logit(x, 1e-6), probability)

# --- the same at zeros and infinities; not gelu, where eager's erf makes a NaN of infinity ---
EDGES = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.0, 88.0,
                      -88.0, 0.01, 9.0])
# Below 2^127.5, where XNNPACK's logarithm ends with AVX-512.
HUGE = torch.tensor([1e10, -1e10, 2e27, -2e27, 1e30, -1e30, 2e38, -2e38, 1e-30, -1e-30])
for name, call, function in [
        ("abs", "aten.abs.default(%x)", torch.abs),
        ("ceil", "aten.ceil.default(%x)", torch.ceil),
        ("floor", "aten.floor.default(%x)", torch.floor),
        ("exp", "aten.exp.default(%x)", torch.exp),
        ("log", "aten.log.default(%x)", torch.log),
        ("sqrt", "aten.sqrt.default(%x)", torch.sqrt),
        ("rsqrt", "aten.rsqrt.default(%x)", torch.rsqrt),
        ("power_of_minus_half", "aten.pow.Tensor_Scalar(%x, -0.5)", torch.rsqrt),
        ("neg", "aten.neg.default(%x)", torch.neg),
        ("sin", "aten.sin.default(%x)", torch.sin),
        ("cos", "aten.cos.default(%x)", torch.cos),
        ("tanh", "aten.tanh.default(%x)", torch.tanh),
        ("sigmoid", "aten.sigmoid.default(%x)", torch.sigmoid),
        ("hardsigmoid", "aten.hardsigmoid.default(%x)", F.hardsigmoid),
        ("relu", "aten.relu.default(%x)", torch.relu),
        ("clamp", "aten.clamp.default(%x, -0.5, 1)", lambda x: torch.clamp(x, -0.5, 1)),
        ("leaky_relu", "aten.leaky_relu.default(%x, 0.2)", lambda x: F.leaky_relu(x, 0.2)),
        ("elu", "aten.elu.default(%x, 0.7)", lambda x: F.elu(x, 0.7)),
        ("square", "aten.pow.Tensor_Scalar(%x, 2)", torch.square),
        ("logit", "aten.logit.default(%x)", torch.logit),
        ("hardswish", "aten.hardswish.default(%x)", F.hardswish),
        ("silu", "aten.silu.default(%x)", F.silu),
        ("gelu_tanh", "aten.gelu.default(%x, approximate=\"tanh\")",
         lambda x: F.gelu(x, approximate="tanh"))]:
    unary(name + "_at_the_edges", call, function, EDGES)
    if name != "hardswish":  # Eager PyTorch's product with 6 is infinite before it is divided.
        unary(name + "_of_huge", call, function, HUGE)

# --- elementwise, two operands ---
BINARY = {
    "add": ("aten.add.Tensor", torch.add),
    "sub": ("aten.sub.Tensor", torch.sub),
    "mul": ("aten.mul.Tensor", torch.mul),
    "div": ("aten.div.Tensor", torch.div),
    "minimum": ("aten.minimum.default", torch.minimum),
    "maximum": ("aten.maximum.default", torch.maximum),
}
for name, (op, function) in BINARY.items():
    a, b = rand(2, 3, 4), rand(3, 1, low=0.5, high=2)
    call = op + "(%a, %b)"
    apply = lambda v, function=function: function(v["a"], v["b"])
    case(name, {"a": a, "b": rand(2, 3, 4, low=0.5, high=2)}, {}, [("y", call, apply)])
    case(name + "_broadcast", {"a": a, "b": b}, {}, [("y", call, apply)])
    case(name + "_constant_right", {"a": a}, {"b": b}, [("y", call, apply)])
    case(name + "_constant_left", {"b": b}, {"a": a}, [("y", call, apply)])
    case(name + "_scalar_tensor", {"a": a}, {"b": torch.tensor(1.5)}, [("y", call, apply)])
for name, function in {"add": torch.add, "sub": torch.sub}.items():
    case(name + "_alpha", {"a": rand(2, 3), "b": rand(2, 3)}, {},
         [("y", "aten.%s.Tensor(%%a, %%b, alpha=2.5)" % name,
           lambda v, f=function: f(v["a"], v["b"], alpha=2.5))])
    unary(name + "_scalar", "aten.%s.Scalar(%%x, 1.5, 2)" % name,
          lambda x, f=function: f(x, 1.5, alpha=2))
unary("mul_scalar", "aten.mul.Scalar(%x, -3)", lambda x: x * -3)
unary("div_scalar", "aten.div.Scalar(%x, 3)", lambda x: x / 3)
case("rank_six", {"a": rand(1, 2, 1, 3, 1, 2), "b": rand(2, 1, 2, 1, 2, 1)}, {},
     [("y", "aten.mul.Tensor(%a, %b)", lambda v: v["a"] * v["b"])])
