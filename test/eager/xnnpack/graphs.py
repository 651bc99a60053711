# SPDX-License-Identifier: Apache-2.0
"""One case: a graph, and what eager PyTorch computes step by step.

    unary("abs", "aten.abs.default(%x)", torch.abs)
    case("scaled", {"x": rand(2, 3)}, {"w": rand(3)},
         [("y", "aten.mul.Tensor(%x, %w)", lambda v: v["x"] * v["w"])])
"""

import torch
import torch.nn.functional as F

from writer import CaseFile, type_of

CASES = CaseFile()


def case(name, inputs, constants, steps, outputs=None, cases=CASES):
    """steps: (result, call as text, function of the environment)."""
    values = {**inputs, **constants}
    text = ["method @forward(%s) {" % ", ".join(
        "%%%s: %s" % (n, type_of(t)) for n, t in inputs.items())]
    for n, t in constants.items():
        text.append("  %%%s = constant @%s : %s" % (n, n, type_of(t)))
    for result, call, function in steps:
        values[result] = function(values)
        text.append("  %%%s = %s" % (result, call))
    outputs = outputs or [steps[-1][0]]
    text.append("  return %s" % ", ".join("%" + o for o in outputs))
    cases.graph(name, "\n".join(text + ["}\n"]), inputs, constants, [values[o] for o in outputs])


def rand(*shape, low=-2.0, high=2.0):
    return torch.rand(*shape) * (high - low) + low


def unary(name, call, function, x=None):
    x = rand(2, 3, 4) if x is None else x
    case(name, {"x": x}, {}, [("y", call, lambda v: function(v["x"]))])


def conv_of(x, w):
    """Text and function of a step: a 3x3 convolution that keeps the size."""
    return "aten.convolution.default(%%%s, %%%s, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)" \
        % (x, w), lambda v: F.conv2d(v[x], v[w], padding=1)
