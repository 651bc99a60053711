# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pools of volumes, and what follows the order of their elements."""

import random

import torch
import torch.nn.functional as F

from xnnpack.convolutions import conv
from xnnpack.graphs import case, rand

one, zero = [1, 1, 1], [0, 0, 0]
# One plane of the filter, one pixel of a plane, and both.
conv("conv_3d_planes", rand(2, 3, 3, 5, 4), rand(4, 3, 1, 3, 3), rand(4), [1, 2, 1], [0, 1, 1],
     one)
conv("conv_3d_columns", rand(2, 3, 5, 3, 2), rand(4, 3, 3, 1, 1), rand(4), [2, 1, 1], [2, 0, 0],
     [2, 1, 1])
conv("conv_3d_columns_depthwise", rand(1, 3, 5, 3, 2), rand(3, 1, 3, 1, 1), rand(3), one,
     [1, 0, 0], one, groups=3)
conv("conv_3d_columns_transposed", rand(2, 4, 3, 3, 2), rand(4, 2, 3, 1, 1), rand(4), [2, 1, 1],
     [1, 0, 0], one, groups=2, transposed=True, output_padding=[1, 0, 0])
conv("conv_3d_1x1x1", rand(1, 3, 2, 3, 2), rand(4, 3, 1, 1, 1), rand(4), one, zero, one)
# Planes are joined, summed, or cut from outputs of all planes of the filter.
conv("conv_3d_joined", rand(1, 5, 3, 4, 3), rand(6, 5, 3, 3, 3), rand(6), one, one, one)
conv("conv_3d_joined_image", rand(2, 1, 3, 4, 3), rand(4, 1, 3, 3, 3), rand(4), one, one, one)
conv("conv_3d_joined_stride", rand(2, 5, 5, 4, 3), rand(6, 5, 3, 2, 2), rand(6), [2, 1, 2],
     [1, 0, 0], one)
conv("conv_3d_summed", rand(1, 17, 3, 3, 2), rand(10, 17, 3, 2, 2), rand(10), one, [1, 1, 0], one)
conv("conv_3d_summed_batch", rand(2, 17, 3, 3, 2), rand(10, 17, 2, 2, 2), None, one, [1, 1, 0],
     one)
conv("conv_3d_summed_stride", rand(2, 3, 4, 5, 5), rand(4, 3, 3, 3, 3), rand(4), [3, 2, 2],
     [1, 1, 1], [1, 1, 2])
conv("conv_3d_cut", rand(1, 8, 3, 3, 2), rand(2, 8, 3, 2, 2), rand(2), one, [1, 1, 0], one)
conv("conv_3d_cut_batch", rand(2, 8, 4, 3, 2), rand(2, 8, 3, 2, 2), rand(2), one, [1, 0, 0], one)
conv("conv_3d_no_whole_plane", rand(2, 4, 2, 3, 3), rand(3, 4, 2, 2, 2), rand(3), one, one, one)
conv("conv_3d_one_plane", rand(1, 4, 1, 3, 3), rand(5, 4, 3, 3, 3), rand(5), one, one, one)
conv("conv_3d_two_planes_meet", rand(1, 6, 2, 3, 3), rand(2, 6, 3, 3, 3), rand(2), one, one, one)
conv("conv_3d_plane_left_out", rand(1, 6, 2, 3, 3), rand(6, 6, 3, 2, 2), rand(6), [3, 1, 1],
     [2, 0, 0], one)
conv("conv_3d_dilated", rand(1, 3, 6, 5, 4), rand(4, 3, 3, 2, 2), rand(4), one, [2, 1, 1],
     [2, 2, 1])
conv("conv_3d_grouped", rand(2, 6, 3, 3, 4), rand(4, 3, 3, 2, 3), rand(4), one, [1, 0, 1], one,
     groups=2)
conv("conv_3d_depthwise", rand(1, 6, 4, 4, 3), rand(6, 1, 3, 3, 3), rand(6), [2, 1, 1], one, one,
     groups=6)
conv("conv_3d_depthwise_multiplier", rand(2, 3, 3, 4, 3), rand(6, 1, 2, 3, 3), rand(6), one, one,
     one, groups=3)
conv("conv_3d_transposed_2x2x2", rand(2, 4, 3, 2, 3), rand(4, 3, 2, 2, 2), rand(3), [2, 2, 2],
     zero, one, transposed=True)
conv("conv_3d_transposed_overlap", rand(1, 4, 3, 2, 3), rand(4, 3, 4, 4, 4), rand(3), [2, 2, 2],
     one, one, transposed=True)
conv("conv_3d_transposed_uneven", rand(2, 4, 3, 2, 2), rand(4, 2, 3, 3, 3), rand(4), [2, 2, 1],
     one, one, groups=2, transposed=True, output_padding=[0, 1, 0])
conv("conv_3d_transposed_stride_1", rand(2, 3, 3, 3, 3), rand(3, 4, 2, 2, 2), None, one, zero,
     [2, 1, 1], transposed=True)
relu6 = ("y", "aten.hardtanh.default(%c, 0, 6)", lambda v: F.hardtanh(v["c"], 0, 6))
conv("conv_3d_summed_relu6", rand(1, 3, 3, 3, 3), rand(4, 3, 3, 3, 3) * 3, rand(4), one, one, one,
     then=[relu6])
conv("conv_3d_cut_relu6", rand(1, 6, 3, 3, 3), rand(2, 6, 3, 3, 3) * 3, rand(2), one, one, one,
     then=[relu6])
conv("conv_3d_transposed_relu6", rand(1, 6, 3, 3, 3), rand(6, 2, 3, 2, 2) * 3, rand(2), [2, 2, 2],
     zero, one, transposed=True, then=[relu6])


def pick(numbers):
    """Arguments of one convolution, and the sizes that its input needs at least."""
    groups = numbers.choice([1, 1, 1, 2, 3])
    inputs, outputs = groups * numbers.randint(1, 3), groups * numbers.randint(1, 3)
    if groups == 3 and numbers.random() < .5:
        inputs = outputs = 3
    kernel = [numbers.randint(1, 3) for _ in range(3)]
    stride = [numbers.randint(1, 2) for _ in range(3)]
    padding = [numbers.randint(0, 2) for _ in range(3)]
    dilation = [numbers.randint(1, 2) for _ in range(3)]
    sizes = [max(1, (k - 1) * d + 1 - 2 * p) + numbers.randint(0, 2)
             for k, d, p in zip(kernel, dilation, padding)]
    return groups, inputs, outputs, kernel, stride, padding, dilation, sizes


numbers = random.Random(7)
made = 0
while made < 24:
    groups, inputs, outputs, kernel, stride, padding, dilation, sizes = pick(numbers)
    # Each output reads an input, or inputs that are no numbers would leave numbers.
    reads = F.conv3d(torch.ones(1, 1, *sizes), torch.ones(1, 1, *kernel), None, stride, padding,
                     dilation)
    if reads.min() == 0:
        continue
    conv("conv_3d_random_%d" % made, rand(numbers.randint(1, 2), inputs, *sizes),
         rand(outputs, inputs // groups, *kernel), rand(outputs) if made % 3 else None, stride,
         padding, dilation, groups=groups)
    made += 1


# What follows convolutions of volumes.
def chain(name, shape, steps, constants=None):
    x, w = rand(*shape), rand(4, shape[1], 3, 3, 3)
    first = ("c", "aten.convolution.default(%x, %w, none, [1,1,1], [1,1,1], [1,1,1], false, "
             "[0,0,0], 1)", lambda v: F.conv3d(v["x"], v["w"], padding=1))
    case(name, {"x": x}, dict(constants or {}, w=w), [first] + steps)


for count in (1, 2):
    chain("volume_residual_%d" % count, (count, 4, 3, 3, 2), [
        ("r", "aten.add.Tensor(%c, %x)", lambda v: v["c"] + v["x"]),
        ("y", "aten.relu.default(%r)", lambda v: torch.relu(v["r"]))])
    chain("volume_gate_%d" % count, (count, 2, 3, 3, 2), [
        ("m", "aten.mean.dim(%c, [2,3,4], true)", lambda v: v["c"].mean([2, 3, 4], True)),
        ("s", "aten.sigmoid.default(%m)", lambda v: torch.sigmoid(v["m"])),
        ("y", "aten.mul.Tensor(%c, %s)", lambda v: v["c"] * v["s"])])
    chain("volume_mean_%d" % count, (count, 2, 3, 3, 2), [
        ("y", "aten.mean.dim(%c, [-1,-2,-3], false)", lambda v: v["c"].mean([2, 3, 4]))])
    chain("volume_cat_%d" % count, (count, 2, 3, 3, 2), [
        ("j", "aten.cat.default([%c, %x], 1)", lambda v: torch.cat([v["c"], v["x"]], 1)),
        ("y", "aten.leaky_relu.default(%j)", lambda v: F.leaky_relu(v["j"]))])
    chain("volume_cat_planes_%d" % count, (count, 4, 3, 3, 2), [
        ("j", "aten.cat.default([%c, %x], 2)", lambda v: torch.cat([v["c"], v["x"]], 2)),
        ("y", "aten.relu.default(%j)", lambda v: torch.relu(v["j"]))])
    chain("volume_slices_%d" % count, (count, 2, 4, 3, 2), [
        ("d", "aten.slice.Tensor(%c, 2, 1, 3, 1)", lambda v: v["c"][:, :, 1:3]),
        ("e", "aten.slice.Tensor(%d, 3, 1, 3, 1)", lambda v: v["d"][:, :, :, 1:3]),
        ("y", "aten.relu.default(%e)", lambda v: torch.relu(v["e"]))])
    chain("pad_volume_%d" % count, (count, 2, 2, 3, 2), [
        ("p", "aten.constant_pad_nd.default(%c, [0,1,1,0], 0.5)",
         lambda v: F.pad(v["c"], (0, 1, 1, 0), value=.5)),
        ("q", "aten.constant_pad_nd.default(%p, [0,0,0,0,2,1], 0.25)",
         lambda v: F.pad(v["p"], (0, 0, 0, 0, 2, 1), value=.25)),
        ("y", "aten.sigmoid.default(%q)", lambda v: torch.sigmoid(v["q"]))])
    chain("volume_softmax_%d" % count, (count, 2, 2, 3, 2), [
        ("y", "aten._softmax.default(%c, 1, false)", lambda v: torch.softmax(v["c"], 1))])
    chain("volume_constants_%d" % count, (count, 2, 3, 3, 2), [
        ("a", "aten.mul.Tensor(%c, %k)", lambda v: v["c"] * v["k"]),
        ("b", "aten.add.Tensor(%a, %p)", lambda v: v["a"] + v["p"]),
        ("y", "aten.mul.Tensor(%b, %q)", lambda v: v["b"] * v["q"])],
        {"k": rand(4, 1, 1, 1), "p": rand(1, 4, 3, 1, 2), "q": rand(count, 4, 3, 3, 2)})
    chain("volume_planes_%d" % count, (count, 2, 3, 3, 2), [
        ("m", "aten.slice.Tensor(%c, 2, 0, 1, 1)", lambda v: v["c"][:, :, :1]),
        ("y", "aten.sub.Tensor(%c, %m)", lambda v: v["c"] - v["m"])])
    for name, call, apply in (
            ("max_pool_3d", "aten.max_pool3d.default(%x, [2,2,2], [2,2,2], [0,1,1])",
             lambda v: F.max_pool3d(v["x"], 2, 2, (0, 1, 1))),
            ("max_pool_3d_depth", "aten.max_pool3d.default(%x, [3,1,1], [2,1,1], [1,0,0])",
             lambda v: F.max_pool3d(v["x"], (3, 1, 1), (2, 1, 1), (1, 0, 0))),
            ("max_pool_3d_planes", "aten.max_pool3d.default(%x, [1,2,2])",
             lambda v: F.max_pool3d(v["x"], (1, 2, 2))),
            ("max_pool_3d_ceil", "aten.max_pool3d.default(%x, [2,2,2], [2,2,2], [0,0,0], [1,1,1], true)",
             lambda v: F.max_pool3d(v["x"], 2, ceil_mode=True)),
            ("avg_pool_3d", "aten.avg_pool3d.default(%x, [2,3,2], [1,1,2], [1,1,0])",
             lambda v: F.avg_pool3d(v["x"], (2, 3, 2), (1, 1, 2), (1, 1, 0))),
            ("avg_pool_3d_inside", "aten.avg_pool3d.default(%x, [3,2,2], [1,2,1], [1,1,1], false, false)",
             lambda v: F.avg_pool3d(v["x"], (3, 2, 2), (1, 2, 1), 1, False, False)),
            ("avg_pool_3d_divisor",
             "aten.avg_pool3d.default(%x, [2,2,1], [2,2,1], [0,0,0], false, true, 4)",
             lambda v: F.avg_pool3d(v["x"], (2, 2, 1), divisor_override=4))):
        case("%s_%d" % (name, count), {"x": rand(count, 3, 5, 5, 4)}, {},
             [("y", call, apply)])
