# SPDX-License-Identifier: Apache-2.0
"""Convolutions of every kind."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, rand


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
