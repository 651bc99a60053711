# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, rand

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
