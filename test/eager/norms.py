# SPDX-License-Identifier: Apache-2.0
"""Layer norms and group norms with what eager PyTorch computes, for the XNNPACK backend."""

import functools

import torch
import torch.nn.functional as F

from writer import CaseFile
from xnnpack import graphs

rand = graphs.rand


def layer_norm(case, name, shape, normalized, weight=True, bias=True, eps=1e-5, inputs=False,
               low=-2.0, high=2.0):
    given = {k: rand(*normalized, low=0.5, high=1.5)
             for k, is_there in (("w", weight), ("b", bias)) if is_there}
    call = "aten.layer_norm.default(%%x, %s, %s, %s, %r)" % (
        list(normalized), "%w" if weight else "none", "%b" if bias else "none", eps)
    case("layer_norm_" + name, {"x": rand(*shape, low=low, high=high), **(given if inputs else {})},
         {} if inputs else given,
         [("y", call, lambda v: F.layer_norm(v["x"], normalized, v.get("w"), v.get("b"), eps))])


def group_norm_step(x, groups, weight=True, bias=True, eps=1e-5):
    call = "aten.group_norm.default(%%%s, %d, %s, %s, %r)" % (
        x, groups, "%w" if weight else "none", "%b" if bias else "none", eps)
    return call, lambda v: F.group_norm(v[x], groups, v["w"] if weight else None,
                                        v["b"] if bias else None, eps)


def group_norm(case, name, shape, groups, weight=True, bias=True, eps=1e-5, **bounds):
    given = {k: rand(shape[1], low=0.5, high=1.5)
             for k, is_there in (("w", weight), ("b", bias)) if is_there}
    case("group_norm_" + name, {"x": rand(*shape, **bounds)}, given,
         [("y", *group_norm_step("x", groups, weight, bias, eps))])


def conv_between(case, name, groups, activation=False):
    """Channels last on both sides."""
    step, function = group_norm_step("c", groups)
    last = [("r", "aten.relu.default(%y)", lambda v: torch.relu(v["y"]))] if activation else []
    case("group_norm_between_convolutions_" + name, {"x": rand(2, 3, 7, 6)},
         {"f": rand(12, 3, 3, 3), "w": rand(12), "b": rand(12), "g": rand(4, 12, 3, 3)},
         [("c", *graphs.conv_of("x", "f")), ("y", step, function), *last,
          ("z", *graphs.conv_of("r" if activation else "y", "g"))])


def pixels_of_a_convolution(case):
    """As ConvNeXt has them."""
    permute = "aten.permute.default(%%%s, [%s])"
    case("layer_norm_of_pixels", {"x": rand(1, 3, 6, 5)},
         {"f": rand(20, 3, 3, 3), "w": rand(20), "b": rand(20), "g": rand(4, 20, 3, 3)},
         [("c", *graphs.conv_of("x", "f")),
          ("p", permute % ("c", "0, 2, 3, 1"), lambda v: v["c"].permute(0, 2, 3, 1)),
          ("n", "aten.layer_norm.default(%p, [20], %w, %b, 1e-06)",
           lambda v: F.layer_norm(v["p"], (20,), v["w"], v["b"], 1e-6)),
          ("q", permute % ("n", "0, 3, 1, 2"), lambda v: v["n"].permute(0, 3, 1, 2)),
          ("z", *graphs.conv_of("q", "g"))])


def record():
    torch.manual_seed(20261130)
    cases = CaseFile()
    case = functools.partial(graphs.case, cases=cases)
    layer_norm(case, "rows", (3, 24), (24,))
    layer_norm(case, "tokens", (2, 5, 40), (40,))
    layer_norm(case, "rank_4", (2, 3, 2, 17), (17,))
    layer_norm(case, "short", (4, 3), (3,))
    layer_norm(case, "one_element", (4, 1), (1,), eps=0.1)
    layer_norm(case, "one_row", (1, 200), (200,))
    layer_norm(case, "rank_1", (33,), (33,))
    layer_norm(case, "without_factors", (3, 50), (50,), weight=False, bias=False)
    layer_norm(case, "without_bias", (3, 50), (50,), bias=False)
    layer_norm(case, "without_weight", (3, 50), (50,), weight=False)
    layer_norm(case, "large_epsilon", (3, 50), (50,), eps=2.0)
    layer_norm(case, "far_from_zero", (3, 64), (64,), low=40.0, high=44.0)
    layer_norm(case, "two_dims", (2, 3, 4, 5), (4, 5))
    layer_norm(case, "all_dims", (3, 4, 5), (3, 4, 5))
    layer_norm(case, "factors_are_inputs", (2, 5, 12), (12,), inputs=True)
    pixels_of_a_convolution(case)
    group_norm(case, "image", (2, 12, 5, 4), 3)
    group_norm(case, "one_group", (2, 12, 5, 4), 1)
    group_norm(case, "each_channel", (2, 12, 5, 4), 12)
    group_norm(case, "many_channels", (1, 40, 3, 3), 8)
    group_norm(case, "without_factors", (2, 12, 5, 4), 3, weight=False, bias=False)
    group_norm(case, "without_bias", (2, 12, 5, 4), 1, bias=False)
    group_norm(case, "signal", (2, 12, 9), 4)
    group_norm(case, "signal_of_one_group", (1, 18, 30), 1)
    group_norm(case, "volume", (2, 6, 3, 4, 2), 3)
    group_norm(case, "volume_of_one_group", (1, 6, 3, 4, 2), 1)
    group_norm(case, "one_pixel", (3, 12, 1, 1), 3)
    group_norm(case, "far_from_zero", (1, 16, 8, 8), 4, low=40.0, high=44.0)
    conv_between(case, "of_groups", 4)
    conv_between(case, "of_one_group", 1)
    conv_between(case, "with_activation", 3, activation=True)
    return cases
