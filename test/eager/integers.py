# SPDX-License-Identifier: Apache-2.0
"""Operators between dequantised and quantised values, with what eager PyTorch computes, for
the XNNPACK backend: all levels of int8, for ranges of several sizes."""

import torch
import torch.nn.functional as F
from torch.ao.quantization.fx import _decomposed  # noqa: F401, quantized_decomposed

import writer

OPS = torch.ops.quantized_decomposed
RANGES = {"small": (-0.5, 0.5), "low": (-8.0, 0.1), "high": (-1.0, 5.0), "even": (-4.0, 4.0)}

# Operators of one tensor, in the IR's text and in eager PyTorch.
ONE = {
    "gelu": ("aten.gelu.default(%d)", F.gelu),
    "gelu_tanh": ('aten.gelu.default(%d, "tanh")', lambda x: F.gelu(x, approximate="tanh")),
    "silu": ("aten.silu.default(%d)", F.silu),
    "leaky_relu": ("aten.leaky_relu.default(%d, 0.2)", lambda x: F.leaky_relu(x, 0.2)),
    "hardsigmoid": ("aten.hardsigmoid.default(%d)", F.hardsigmoid),
    "hardswish": ("aten.hardswish.default(%d)", F.hardswish),
    "elu": ("aten.elu.default(%d)", F.elu),
    "elu_alpha": ("aten.elu.default(%d, 0.4)", lambda x: F.elu(x, 0.4)),
    "sigmoid": ("aten.sigmoid.default(%d)", torch.sigmoid),
    "tanh": ("aten.tanh.default(%d)", torch.tanh),
    "add_number": ("aten.add.Scalar(%d, 1.25, 1)", lambda x: x + 1.25),
    "add_little": ("aten.add.Scalar(%d, 0.01, 1)", lambda x: x + 0.01),
    "add_nothing": ("aten.add.Scalar(%d, 0.0, 1)", lambda x: x + 0.0),
    "sub_number": ("aten.sub.Scalar(%d, -3.5, 1)", lambda x: x - -3.5),
    "mul_number": ("aten.mul.Scalar(%d, -1.7)", lambda x: x * -1.7),
    "div_number": ("aten.div.Scalar(%d, 6.0)", lambda x: x / 6.0),
}

# Operators with a constant that is stored as levels.
TWO = {
    "add": ("aten.add.Tensor(%d, %c, 1)", lambda d, c: d + c),
    "sub": ("aten.sub.Tensor(%d, %c, 1)", lambda d, c: d - c),
    "sub_from": ("aten.sub.Tensor(%c, %d, 1)", lambda d, c: c - d),
    "mul": ("aten.mul.Tensor(%c, %d)", lambda d, c: d * c),
}


def numbers(low, high):
    """Scale and zero point for a range, as torch's observers choose them."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(torch.tensor((high - low) / 255, dtype=torch.float32)) or 1.0
    return scale, max(-128, min(127, -128 - round(low / scale)))


def around(tensor):
    return numbers(float(tensor.min()), float(tensor.max()))


def call(name, tensor, scale, zero_point, end=""):
    return (f"quantized_decomposed.{name}_per_tensor.default(%{tensor}, {scale!r}, {zero_point}, "
            f"-128, 127, i8{end})")


def graph(x, before, body, after, constants=()):
    lines = [f"method @forward(%x: {x}) {{"]
    lines += [f"  {line}" for line in constants]
    lines += [f"  %q = {call('quantize', 'x', *before)}",
              f"  %d = {call('dequantize', 'q', *before, ', none')}",
              f"  %y = {body}",
              f"  %r = {call('quantize', 'y', *after)}",
              f"  %z = {call('dequantize', 'r', *after, ', none')}",
              "  return %z", "}", ""]
    return "\n".join(lines)


def through(tensor, scale, zero_point):
    levels = OPS.quantize_per_tensor(tensor, scale, zero_point, -128, 127, torch.int8)
    return levels, OPS.dequantize_per_tensor(levels, scale, zero_point, -128, 127, torch.int8)


def all_levels(scale, zero_point):
    return (torch.arange(-128, 128, dtype=torch.float32) - zero_point) * scale


def add_one(cases):
    for name, (text, function) in ONE.items():
        for kind, ends in RANGES.items():
            before = numbers(*ends)
            x = all_levels(*before).reshape(2, 128)
            y = function(through(x, *before)[1])
            after = around(y)
            cases.graph(f"{name}_{kind}", graph("f32[2,128]", before, text, after),
                        inputs={"x": x}, expected=[through(y, *after)[1]])


def add_two(cases, name, text, function, x, constant):
    before, stored = around(x), around(constant)
    levels, c = through(constant, *stored)
    y = function(through(x, *before)[1], c)
    after = around(y)
    shape = "[%s]" % ",".join(map(str, x.shape))
    c_shape = "[%s]" % ",".join(map(str, constant.shape))
    lines = [f"%k = constant @k : i8{c_shape}",
             f"%c = {call('dequantize', 'k', *stored, ', none')}"]
    cases.graph(name, graph("f32" + shape, before, text, after, lines), inputs={"x": x},
                constants={"k": levels}, expected=[through(y, *after)[1]])


def add_image(cases):
    """The pool wants channels last, and the constant lies along them."""
    x, constant = torch.rand(1, 3, 6, 6) * 4 - 1, torch.rand(1, 3, 1, 1) + 0.5
    before, stored = around(x), around(constant)
    levels, c = through(constant, *stored)
    y = F.max_pool2d(through(x, *before)[1], 2) * c
    after = around(y)
    lines = ["%k = constant @k : i8[1,3,1,1]",
             f"%c = {call('dequantize', 'k', *stored, ', none')}"]
    body = (f"aten.max_pool2d.default(%d, [2])\n  %p = {call('quantize', 'y', *before)}\n"
            f"  %e = {call('dequantize', 'p', *before, ', none')}\n"
            "  %m = aten.mul.Tensor(%e, %c)")
    text = graph("f32[1,3,6,6]", before, body, after, lines).replace(
        call("quantize", "y", *after), call("quantize", "m", *after))
    cases.graph("mul_by_channels", text, inputs={"x": x}, constants={"k": levels},
                expected=[through(y, *after)[1]])


def record():
    torch.manual_seed(20261123)
    cases = writer.CaseFile()
    add_one(cases)
    for name, (text, function) in TWO.items():
        x = torch.rand(3, 64) * 6 - 2
        add_two(cases, name + "_row", text, function, x, torch.rand(64) * 3 + 1)
        add_two(cases, name + "_same", text, function, x, torch.randn(3, 64))
        add_two(cases, name + "_one", text, function, x, torch.rand(1) + 1)
    add_image(cases)
    return cases
