# SPDX-License-Identifier: Apache-2.0
"""Attention, taken apart and whole."""

import math

import torch
import torch.nn.functional as F

from xnnpack.graphs import case, rand

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
