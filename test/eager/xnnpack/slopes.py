# SPDX-License-Identifier: Apache-2.0
"""PReLU: one slope or one for each channel, in the layout of what is around it."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, conv_of, rand

SHAPES = {"numbers": (37,), "rows": (5, 7), "one_row": (1, 33), "sounds": (2, 6, 5),
          "images": (2, 3, 4, 5), "one_channel": (2, 1, 4, 5), "one_image": (1, 5, 1, 1),
          "volumes": (1, 3, 2, 4, 2)}
PRELU = "aten.prelu.default(%x, %w)"


def prelu(x, w):
    """Takes one slope for each element of a vector, too, which eager PyTorch refuses."""
    return torch.where(x > 0, x, w * x) if x.dim() == 1 else F.prelu(x, w)


for name, shape in SHAPES.items():
    channels = shape[1] if len(shape) > 1 else shape[0]
    for kind, count in (("one_slope", 1), ("slopes", channels)):
        case("prelu_%s_of_%s" % (kind, name), {"x": rand(*shape)}, {"w": rand(count)},
             [("y", PRELU, lambda v: prelu(v["x"], v["w"]))])
case("prelu_of_a_number", {"x": rand(2, 3, 4)}, {"w": torch.tensor(-0.75)},
     [("y", PRELU, lambda v: F.prelu(v["x"], v["w"]))])
case("prelu_kernel_of_images", {"x": rand(2, 3, 4, 5)}, {"w": rand(1, 3, 1, 1)},
     [("y", "aten._prelu_kernel.default(%x, %w)",
       lambda v: torch.ops.aten._prelu_kernel(v["x"], v["w"]))])

# --- at zeros and infinities, with slopes of both signs ---
EDGES = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.0, 3e38,
                      -3e38, 1e-30, -1e-30])
for name, w in {"one_slope": torch.tensor([0.25]), "a_negative_slope": torch.tensor([-3.0]),
                "slopes": torch.tensor([0.5, -2.0, 0.0, 1.0])}.items():
    x = EDGES.repeat(2, len(w), 1)
    case("prelu_%s_at_the_edges" % name, {"x": x}, {"w": w},
         [("y", PRELU, lambda v: F.prelu(v["x"], v["w"]))])

# --- between convolutions, of images and of sounds ---
case("prelu_between_convolutions", {"x": rand(2, 3, 5, 4)},
     {"w1": rand(6, 3, 3, 3), "s": rand(6), "w2": rand(4, 6, 3, 3), "t": rand(1),
      "w3": rand(2, 4, 3, 3)},
     [("c", *conv_of("x", "w1")),
      ("a", "aten.prelu.default(%c, %s)", lambda v: F.prelu(v["c"], v["s"])),
      ("d", *conv_of("a", "w2")),
      ("b", "aten.prelu.default(%d, %t)", lambda v: F.prelu(v["d"], v["t"])),
      ("y", *conv_of("b", "w3"))])
CONV_1D = "aten.convolution.default(%%%s, %%%s, none, [1], [1], [1], false, [0], 1)"
case("prelu_between_convolutions_of_sounds", {"x": rand(2, 3, 9)},
     {"w1": rand(6, 3, 3), "s": rand(6), "w2": rand(4, 6, 3)},
     [("c", CONV_1D % ("x", "w1"), lambda v: F.conv1d(v["x"], v["w1"], padding=1)),
      ("a", "aten.prelu.default(%c, %s)", lambda v: F.prelu(v["c"], v["s"])),
      ("y", CONV_1D % ("a", "w2"), lambda v: F.conv1d(v["a"], v["w2"], padding=1))])
