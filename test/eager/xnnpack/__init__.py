# SPDX-License-Identifier: Apache-2.0
"""Small graphs with what eager PyTorch computes, for the XNNPACK backend.

All draw from one generator in the order below, so what is added last changes no
other case.
"""

import importlib

import torch

from xnnpack.graphs import CASES

FAMILIES = ("elementwise", "products", "convolutions", "windows", "regions", "attention", "images",
            "slopes", "volumes", "shuffled", "written_out")


def record():
    torch.manual_seed(20240521)
    for family in FAMILIES:
        importlib.import_module("xnnpack." + family)
    return CASES
