# SPDX-License-Identifier: Apache-2.0
"""Pools, means, resizing, softmax, and moves."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, rand, unary

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
