# SPDX-License-Identifier: Apache-2.0
"""Norms and activations that are written out as powers and means."""

import torch

from xnnpack.graphs import case, rand

case("cube", {"x": rand(2, 3, 4)}, {},
     [("y", "aten.pow.Tensor_Scalar(%x, 3)", lambda v: torch.pow(v["x"], 3))])
case("cube_clamped", {"x": rand(2, 3, 4)}, {},
     [("c", "aten.pow.Tensor_Scalar(%x, 3)", lambda v: torch.pow(v["x"], 3)),
      ("y", "aten.clamp.default(%c, -0.5, 0.25)", lambda v: torch.clamp(v["c"], -0.5, 0.25))])
case("norm_of_channels", {"x": rand(2, 6, 3, 5)}, {"w": rand(1, 6, 1, 1), "b": rand(1, 6, 1, 1)},
     [("u", "aten.mean.dim(%x, [1], true)", lambda v: v["x"].mean(1, keepdim=True)),
      ("d", "aten.sub.Tensor(%x, %u)", lambda v: v["x"] - v["u"]),
      ("q", "aten.pow.Tensor_Scalar(%d, 2)", lambda v: v["d"].pow(2)),
      ("s", "aten.mean.dim(%q, [-3], true)", lambda v: v["q"].mean(-3, keepdim=True)),
      ("e", "aten.add.Scalar(%s, 0.01)", lambda v: v["s"] + 0.01),
      ("r", "aten.sqrt.default(%e)", lambda v: torch.sqrt(v["e"])),
      ("n", "aten.div.Tensor(%d, %r)", lambda v: v["d"] / v["r"]),
      ("m", "aten.mul.Tensor(%n, %w)", lambda v: v["n"] * v["w"]),
      ("y", "aten.add.Tensor(%m, %b)", lambda v: v["m"] + v["b"])])
