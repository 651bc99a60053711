# SPDX-License-Identifier: Apache-2.0
"""Writes operator_cases.txt: small graphs with what eager PyTorch computes.

    python3 make_operator_cases.py > operator_cases.txt      (torch 2.13.0)

A case is a name, the graph in the IR's text form, and its tensors:

    case relu
    method @forward(%x: f32[2,3]) { ... }
    input x f32[2,3] 0.25 -1.5 ...
    constant w f32[3] ...
    output 0 f32[2,3] ...
    end
"""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(20240521)

CASES = []


def type_of(tensor):
    return "f32[%s]" % ",".join(str(n) for n in tensor.shape)


def line(kind, name, tensor):
    values = " ".join("%.9g" % v for v in tensor.reshape(-1).tolist())
    return "%s %s %s %s" % (kind, name, type_of(tensor), values)


def case(name, inputs, constants, steps, outputs=None):
    """steps: (result, call as text, function of the environment)."""
    values = {**inputs, **constants}
    text = ["method @forward(%s) {" % ", ".join(
        "%%%s: %s" % (n, type_of(t)) for n, t in inputs.items())]
    for n, t in constants.items():
        text.append("  %%%s = constant @%s : %s" % (n, n, type_of(t)))
    for result, call, function in steps:
        values[result] = function(values)
        text.append("  %%%s = %s" % (result, call))
    outputs = outputs or [steps[-1][0]]
    text.append("  return %s" % ", ".join("%" + o for o in outputs))
    text.append("}")
    lines = ["case " + name] + text
    lines += [line("input", n, t) for n, t in inputs.items()]
    lines += [line("constant", n, t) for n, t in constants.items()]
    lines += [line("output", i, values[o]) for i, o in enumerate(outputs)]
    CASES.append("\n".join(lines + ["end"]))


def rand(*shape, low=-2.0, high=2.0):
    return torch.rand(*shape) * (high - low) + low


def unary(name, call, function, x=None):
    x = rand(2, 3, 4) if x is None else x
    case(name, {"x": x}, {}, [("y", call, lambda v: function(v["x"]))])


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

# --- matrix products ---
case("linear", {"x": rand(3, 5)}, {"w": rand(4, 5), "b": rand(4)},
     [("y", "aten.linear.default(%x, %w, %b)", lambda v: F.linear(v["x"], v["w"], v["b"]))])
case("linear_without_bias_rank_three", {"x": rand(2, 3, 5)}, {"w": rand(4, 5)},
     [("y", "aten.linear.default(%x, %w)", lambda v: F.linear(v["x"], v["w"]))])
case("linear_relu", {"x": rand(3, 5)}, {"w": rand(4, 5), "b": rand(4)},
     [("h", "aten.linear.default(%x, %w, %b)", lambda v: F.linear(v["x"], v["w"], v["b"])),
      ("y", "aten.relu.default(%h)", lambda v: torch.relu(v["h"]))])
case("linear_both_with_and_without_relu", {"x": rand(3, 5)}, {"w": rand(4, 5)},
     [("h", "aten.linear.default(%x, %w)", lambda v: F.linear(v["x"], v["w"])),
      ("y", "aten.relu.default(%h)", lambda v: torch.relu(v["h"]))], outputs=["h", "y"])
case("mm", {"x": rand(3, 5)}, {"w": rand(5, 4)},
     [("y", "aten.mm.default(%x, %w)", lambda v: v["x"] @ v["w"])])
case("addmm", {"x": rand(3, 5)}, {"w": rand(5, 4), "b": rand(4)},
     [("y", "aten.addmm.default(%b, %x, %w)",
       lambda v: torch.addmm(v["b"], v["x"], v["w"]))])
case("bmm", {"a": rand(2, 3, 5), "b": rand(2, 5, 4)}, {},
     [("y", "aten.bmm.default(%a, %b)", lambda v: torch.bmm(v["a"], v["b"]))])
case("bmm_constant", {"a": rand(2, 3, 5)}, {"b": rand(2, 5, 4)},
     [("y", "aten.bmm.default(%a, %b)", lambda v: torch.bmm(v["a"], v["b"]))])
case("bmm_constant_left", {"b": rand(2, 5, 4)}, {"a": rand(2, 3, 5)},
     [("y", "aten.bmm.default(%a, %b)", lambda v: torch.bmm(v["a"], v["b"]))])


# --- convolutions ---
def conv(name, x, w, b, stride, padding, dilation, groups=1, transposed=False,
         output_padding=None, then=()):
    n = len(stride)
    output_padding = output_padding or [0] * n
    call = "aten.convolution.default(%%x, %%w, %s, %s, %s, %s, %s, %s, %d)" % (
        "%b" if b is not None else "none", stride, padding, dilation,
        "true" if transposed else "false", output_padding, groups)
    apply = lambda v: torch.ops.aten.convolution(
        v["x"], v["w"], v.get("b"), stride, padding, dilation, transposed, output_padding, groups)
    constants = {"w": w} if b is None else {"w": w, "b": b}
    case(name, {"x": x}, constants, [("c", call, apply)] + list(then))


one, zero = [1, 1], [0, 0]
conv("conv_1x1", rand(1, 3, 4, 5), rand(6, 3, 1, 1), rand(6), one, zero, one)
conv("conv_3x3", rand(2, 3, 7, 6), rand(5, 3, 3, 3), rand(5), one, [1, 1], one)
conv("conv_stride_dilation", rand(1, 4, 11, 9), rand(6, 4, 3, 2), None, [2, 1], [2, 1], [2, 3])
conv("conv_one_channel", rand(1, 1, 8, 8), rand(4, 1, 3, 3), rand(4), one, [1, 1], one)
conv("conv_grouped", rand(1, 6, 5, 5), rand(4, 3, 3, 3), rand(4), one, [1, 1], one, groups=2)
conv("conv_depthwise", rand(1, 6, 5, 5), rand(6, 1, 3, 3), rand(6), one, [1, 1], one, groups=6)
conv("conv_depthwise_multiplier", rand(1, 3, 5, 5), rand(6, 1, 3, 3), rand(6), [2, 2], [1, 1],
     one, groups=3)
conv("conv_depthwise_5x5_dilated", rand(1, 4, 12, 12), rand(4, 1, 5, 5), None, one, [4, 4],
     [2, 2], groups=4)
conv("conv_relu6", rand(1, 3, 4, 4), rand(4, 3, 3, 3) * 3, rand(4), one, [1, 1], one,
     then=[("y", "aten.hardtanh.default(%c, 0, 6)", lambda v: F.hardtanh(v["c"], 0, 6))])
conv("conv_clamped_twice", rand(1, 3, 4, 4), rand(4, 3, 3, 3), rand(4), one, [1, 1], one,
     then=[("r", "aten.relu.default(%c)", lambda v: torch.relu(v["c"])),
           ("y", "aten.clamp.default(%r, none, 1)", lambda v: torch.clamp(v["r"], max=1))])
conv("conv_1d", rand(2, 3, 9), rand(4, 3, 3), rand(4), [2], [1], [1])
conv("conv_1d_depthwise", rand(1, 4, 9), rand(4, 1, 3), rand(4), [1], [2], [2], groups=4)
conv("conv_1d_chain", rand(1, 3, 9), rand(4, 3, 3), rand(4), [1], [1], [1],
     then=[("r", "aten.relu.default(%c)", lambda v: torch.relu(v["c"])),
           ("s", "aten.add.Tensor(%r, %r)", lambda v: v["r"] + v["r"]),
           ("y", "aten.mean.dim(%s, [2], true)", lambda v: v["s"].mean([2], True))])
conv("conv_transposed", rand(1, 4, 5, 4), rand(4, 3, 3, 3), rand(3), [2, 2], [1, 1], one,
     transposed=True, output_padding=[1, 0])
conv("conv_transposed_2x2", rand(1, 4, 3, 3), rand(4, 3, 2, 2), None, [2, 2], zero, one,
     transposed=True)
conv("conv_transposed_grouped", rand(1, 4, 4, 4), rand(4, 3, 3, 3), rand(6), [1, 1], [1, 1], one,
     groups=2, transposed=True)
conv("conv_transposed_dilated", rand(1, 2, 4, 4), rand(2, 3, 3, 3), rand(3), [1, 1], [0, 1],
     [2, 2], transposed=True)
conv("conv_transposed_dilated_stride", rand(1, 2, 4, 4), rand(2, 3, 3, 2), rand(3), [2, 3], zero,
     [2, 1], transposed=True)
conv("conv_transposed_1d", rand(1, 4, 5), rand(4, 3, 4), rand(3), [2], [1], [1], transposed=True)
conv("conv_nhwc_weight_order", rand(1, 3, 4, 4),
     rand(4, 3, 3, 3), rand(4), one, zero, one)

# --- pools, means, resizing, softmax ---
image = rand(1, 3, 7, 6)
unary("max_pool", "aten.max_pool2d.default(%x, [3, 2], [2, 2], [1, 0])",
      lambda x: F.max_pool2d(x, (3, 2), (2, 2), (1, 0)), image)
unary("max_pool_dilated", "aten.max_pool2d.default(%x, [2, 2], [1, 1], [0, 0], [2, 2])",
      lambda x: F.max_pool2d(x, 2, 1, 0, 2), image)
unary("max_pool_ceil", "aten.max_pool2d.default(%x, [3], [2], [1], [1], true)",
      lambda x: F.max_pool2d(x, 3, 2, 1, 1, True), rand(1, 2, 8, 7))
unary("max_pool_default_stride", "aten.max_pool2d.default(%x, [2])",
      lambda x: F.max_pool2d(x, 2), image)
unary("avg_pool", "aten.avg_pool2d.default(%x, [2, 3], [2, 1])",
      lambda x: F.avg_pool2d(x, (2, 3), (2, 1)), image)
unary("avg_pool_padding_counted", "aten.avg_pool2d.default(%x, [3, 3], [2, 2], [1, 1])",
      lambda x: F.avg_pool2d(x, 3, 2, 1), image)
unary("avg_pool_padding_left_out",
      "aten.avg_pool2d.default(%x, [3, 3], [2, 2], [1, 1], false, false)",
      lambda x: F.avg_pool2d(x, 3, 2, 1, False, False), image)
case("avg_pool_relu", {"x": image}, {},
     [("p", "aten.avg_pool2d.default(%x, [2])", lambda v: F.avg_pool2d(v["x"], 2)),
      ("y", "aten.relu.default(%p)", lambda v: torch.relu(v["p"]))])
unary("mean_spatial_keepdim", "aten.mean.dim(%x, [2, 3], true)",
      lambda x: x.mean([2, 3], True), image)
unary("mean_spatial", "aten.mean.dim(%x, [-1, -2])", lambda x: x.mean([-1, -2]), image)
unary("mean_of_rows", "aten.mean.dim(%x, [2])", lambda x: x.mean([2]), rand(2, 3, 5))
unary("resize", "aten.upsample_bilinear2d.vec(%x, [14, 9], false, none)",
      lambda x: F.interpolate(x, (14, 9), mode="bilinear"), image)
unary("resize_down", "aten.upsample_bilinear2d.vec(%x, [4, 5], false, none)",
      lambda x: F.interpolate(x, (4, 5), mode="bilinear"), image)
unary("resize_align_corners", "aten.upsample_bilinear2d.vec(%x, [13, 11], true, none)",
      lambda x: F.interpolate(x, (13, 11), mode="bilinear", align_corners=True), image)
unary("resize_by_factor", "aten.upsample_bilinear2d.vec(%x, none, false, [2.0, 1.5])",
      lambda x: F.interpolate(x, scale_factor=(2.0, 1.5), mode="bilinear"), image)
unary("softmax_last", "aten._softmax.default(%x, -1, false)", lambda x: F.softmax(x, -1))
unary("softmax_channels", "aten._softmax.default(%x, 1, false)", lambda x: F.softmax(x, 1), image)
unary("softmax_channels_of_rows", "aten._softmax.default(%x, 1, false)",
      lambda x: F.softmax(x, 1), rand(2, 3, 5))

# --- moves ---
unary("permute", "aten.permute.default(%x, [2, 0, 1])", lambda x: x.permute(2, 0, 1))
unary("permute_negative", "aten.permute.default(%x, [-1, 0, -2])", lambda x: x.permute(-1, 0, -2))
unary("view", "aten.view.default(%x, [4, -1])", lambda x: x.reshape(4, -1))
unary("slice", "aten.slice.Tensor(%x, 2, 1, 3)", lambda x: x[:, :, 1:3])
unary("slice_negative", "aten.slice.Tensor(%x, -1, -3)", lambda x: x[:, :, -3:])
unary("pad", "aten.constant_pad_nd.default(%x, [1, 2, 0, 3], -0.5)",
      lambda x: F.pad(x, (1, 2, 0, 3), value=-0.5))
unary("clone", "aten.clone.default(%x)", torch.clone)
for n in (2, 3, 5, 6, 11):
    names = ["x%d" % i for i in range(n)]
    case("cat_%d" % n, {k: rand(2, 1 + i % 3, 2) for i, k in enumerate(names)}, {},
         [("y", "aten.cat.default([%s], 1)" % ", ".join("%" + k for k in names),
           lambda v, names=names: torch.cat([v[k] for k in names], 1))])
case("cat_with_constant", {"x": rand(2, 3)}, {"c": rand(1, 3)},
     [("y", "aten.cat.default([%x, %c, %x])", lambda v: torch.cat([v["x"], v["c"], v["x"]]))])

# --- regions that share a layout ---
def conv_of(x, w):
    return "aten.convolution.default(%%%s, %%%s, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)" \
        % (x, w), lambda v: F.conv2d(v[x], v[w], padding=1)


case("residual", {"x": rand(1, 4, 5, 6)}, {"w1": rand(4, 4, 3, 3), "w2": rand(4, 4, 3, 3)},
     [("c1", *conv_of("x", "w1")),
      ("r1", "aten.relu.default(%c1)", lambda v: torch.relu(v["c1"])),
      ("c2", *conv_of("r1", "w2")),
      ("s", "aten.add.Tensor(%c2, %x)", lambda v: v["c2"] + v["x"]),
      ("y", "aten.relu.default(%s)", lambda v: torch.relu(v["s"]))])
case("squeeze_and_excite", {"x": rand(1, 4, 5, 6)},
     {"w": rand(4, 4, 3, 3), "w1": rand(2, 4, 1, 1), "b1": rand(2), "w2": rand(4, 2, 1, 1)},
     [("c", *conv_of("x", "w")),
      ("m", "aten.mean.dim(%c, [2, 3], true)", lambda v: v["c"].mean([2, 3], True)),
      ("d", "aten.convolution.default(%m, %w1, %b1, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)",
       lambda v: F.conv2d(v["m"], v["w1"], v["b1"])),
      ("r", "aten.relu.default(%d)", lambda v: torch.relu(v["d"])),
      ("u", "aten.convolution.default(%r, %w2, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)",
       lambda v: F.conv2d(v["r"], v["w2"])),
      ("g", "aten.sigmoid.default(%u)", lambda v: torch.sigmoid(v["u"])),
      ("y", "aten.mul.Tensor(%c, %g)", lambda v: v["c"] * v["g"])])
case("channel_constants_between_convolutions", {"x": rand(2, 3, 4, 4)},
     {"w": rand(4, 3, 3, 3), "k": rand(4, 1, 1), "m": rand(4, 4), "p": rand(1, 4, 1, 4),
      "w2": rand(2, 4, 3, 3)},
     [("c", *conv_of("x", "w")),
      ("a", "aten.add.Tensor(%c, %k)", lambda v: v["c"] + v["k"]),
      ("b", "aten.mul.Tensor(%m, %a)", lambda v: v["m"] * v["a"]),
      ("d", "aten.sub.Tensor(%b, %p)", lambda v: v["b"] - v["p"]),
      ("y", *conv_of("d", "w2"))])
case("cat_pad_slice_in_channels_last", {"x": rand(1, 3, 5, 4)},
     {"w": rand(2, 3, 3, 3), "w2": rand(2, 5, 3, 3)},
     [("c", *conv_of("x", "w")),
      ("j", "aten.cat.default([%c, %x], 1)", lambda v: torch.cat([v["c"], v["x"]], 1)),
      ("p", "aten.constant_pad_nd.default(%j, [1, 0, 0, 2], 0.5)",
       lambda v: F.pad(v["j"], (1, 0, 0, 2), value=0.5)),
      ("s", "aten.slice.Tensor(%p, 2, 1, 6)", lambda v: v["p"][:, :, 1:6]),
      ("y", *conv_of("s", "w2"))])
case("image_leaves_twice_and_is_used", {"x": rand(1, 3, 4, 4)},
     {"w": rand(3, 3, 3, 3), "w2": rand(2, 3, 3, 3)},
     [("c", *conv_of("x", "w")), ("d", *conv_of("c", "w2"))], outputs=["c", "d", "c"])
case("classifier_head", {"x": rand(2, 3, 6, 6)},
     {"w": rand(4, 3, 3, 3), "l": rand(5, 4), "b": rand(5)},
     [("c", *conv_of("x", "w")),
      ("r", "aten.relu.default(%c)", lambda v: torch.relu(v["c"])),
      ("m", "aten.mean.dim(%r, [2, 3], true)", lambda v: v["r"].mean([2, 3], True)),
      ("f", "aten.view.default(%m, [2, 4])", lambda v: v["m"].reshape(2, 4)),
      ("h", "aten.linear.default(%f, %l, %b)", lambda v: F.linear(v["f"], v["l"], v["b"])),
      ("y", "aten._softmax.default(%h, 1, false)", lambda v: F.softmax(v["h"], 1))])
case("flatten_of_an_image", {"x": rand(2, 3, 4, 4)}, {"w": rand(2, 3, 3, 3), "l": rand(3, 32)},
     [("c", *conv_of("x", "w")),
      ("f", "aten.view.default(%c, [2, 32])", lambda v: v["c"].reshape(2, 32)),
      ("y", "aten.linear.default(%f, %l)", lambda v: F.linear(v["f"], v["l"]))])
case("tokens_of_an_image", {"x": rand(1, 3, 4, 4)}, {"w": rand(2, 3, 3, 3)},
     [("c", *conv_of("x", "w")),
      ("p", "aten.permute.default(%c, [0, 2, 3, 1])", lambda v: v["c"].permute(0, 2, 3, 1)),
      ("q", "aten.permute.default(%c, [0, 3, 1, 2])", lambda v: v["c"].permute(0, 3, 1, 2))],
     outputs=["p", "q"])
case("elementwise_stays_plain_between_matrices", {"x": rand(2, 3, 5)},
     {"w1": rand(4, 5), "w2": rand(3, 4)},
     [("h", "aten.linear.default(%x, %w1)", lambda v: F.linear(v["x"], v["w1"])),
      ("g", "aten.gelu.default(%h)", lambda v: F.gelu(v["h"])),
      ("y", "aten.linear.default(%g, %w2)", lambda v: F.linear(v["g"], v["w2"]))])
case("mixed_ranks_in_channels_last", {"x": rand(2, 3, 4, 4), "k": rand(3, 1, 1)},
     {"w": rand(3, 3, 3, 3)},
     [("c", *conv_of("x", "w")),
      ("a", "aten.mul.Tensor(%c, %k)", lambda v: v["c"] * v["k"]),
      ("y", *conv_of("a", "w"))])
case("attention", {"q": rand(2, 3, 4), "k": rand(2, 3, 4), "v": rand(2, 3, 4)}, {},
     [("t", "aten.permute.default(%k, [0, 2, 1])", lambda v: v["k"].permute(0, 2, 1)),
      ("s", "aten.bmm.default(%q, %t)", lambda v: torch.bmm(v["q"], v["t"])),
      ("d", "aten.mul.Scalar(%s, 0.5)", lambda v: v["s"] * 0.5),
      ("a", "aten._softmax.default(%d, -1, false)", lambda v: F.softmax(v["d"], -1)),
      ("y", "aten.bmm.default(%a, %v)", lambda v: torch.bmm(v["a"], v["v"]))])


def sdpa(name, text="", mask=None, constant=False, shape=(2, 3, 5, 4), keys=6, **options):
    q, k, v = rand(*shape), rand(*shape[:-2], keys, shape[-1]), rand(*shape[:-2], keys, 7)
    inputs, constants = {"q": q, "k": k, "v": v}, {}
    if mask is not None:
        (constants if constant else inputs)["m"] = mask
        text = ", %m" + text
    call = "aten.scaled_dot_product_attention.default(%q, %k, %v" + text + ")"
    case("sdpa_" + name, inputs, constants,
         [("y", call, lambda v: F.scaled_dot_product_attention(
             v["q"], v["k"], v["v"], attn_mask=v.get("m"), **options))])


FAR = torch.finfo(torch.float32).min
sdpa("plain")
sdpa("of_rank_3", shape=(3, 5, 4))
sdpa("scaled", ", scale=0.3", scale=0.3)
sdpa("causal", ", is_causal=true", is_causal=True)
sdpa("causal_square", ", is_causal=true", keys=5, is_causal=True)
sdpa("mask", mask=rand(2, 3, 5, 6))
sdpa("mask_of_columns", mask=torch.tensor([0.0, 0, FAR, 0, FAR, FAR]).reshape(1, 1, 1, 6).expand(2, 1, 1, 6).clone())
sdpa("constant_mask", mask=rand(5, 6), constant=True)
sdpa("all_far", mask=torch.full((5, 6), FAR), constant=True)
blind = rand(5, 6)
blind[1] = -math.inf
blind[2, 3:] = -math.inf
sdpa("row_that_sees_nothing", mask=blind, constant=True)
case("unet_step", {"x": rand(1, 2, 4, 4)},
     {"w": rand(3, 2, 3, 3), "w2": rand(3, 3, 3, 3), "w3": rand(1, 6, 3, 3)},
     [("e", *conv_of("x", "w")),
      ("p", "aten.max_pool2d.default(%e, [2])", lambda v: F.max_pool2d(v["e"], 2)),
      ("d", *conv_of("p", "w2")),
      ("u", "aten.upsample_bilinear2d.vec(%d, [4, 4], false, none)",
       lambda v: F.interpolate(v["d"], (4, 4), mode="bilinear")),
      ("j", "aten.cat.default([%e, %u], 1)", lambda v: torch.cat([v["e"], v["u"]], 1)),
      ("y", *conv_of("j", "w3"))])

unary("pixel_shuffle", "aten.pixel_shuffle.default(%x, 2)",
      lambda x: F.pixel_shuffle(x, 2), rand(2, 8, 3, 2))
unary("pixel_unshuffle", "aten.pixel_unshuffle.default(%x, 3)",
      lambda x: F.pixel_unshuffle(x, 3), rand(2, 2, 6, 3))
case("pixels_between_convolutions", {"x": rand(2, 2, 3, 4)},
     {"w": rand(12, 2, 3, 3), "w2": rand(2, 3, 3, 3), "w3": rand(3, 8, 3, 3)},
     [("c", *conv_of("x", "w")),
      ("u", "aten.pixel_shuffle.default(%c, 2)", lambda v: F.pixel_shuffle(v["c"], 2)),
      ("d", *conv_of("u", "w2")),
      ("s", "aten.pixel_unshuffle.default(%d, 2)", lambda v: F.pixel_unshuffle(v["d"], 2)),
      ("y", *conv_of("s", "w3"))])

for text in CASES:
    print(text)
