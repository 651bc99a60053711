# SPDX-License-Identifier: Apache-2.0
"""Images that are sampled down and up between convolutions."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, conv_of, rand, unary

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
