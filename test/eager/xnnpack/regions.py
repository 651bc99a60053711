# SPDX-License-Identifier: Apache-2.0
"""Partitions of several operators that share a layout."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, conv_of, rand

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
