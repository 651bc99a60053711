# SPDX-License-Identifier: Apache-2.0
"""Calls of operators and the types of what eager PyTorch returns."""

import importlib

from inference.calls import CASES

FAMILIES = ("elementwise", "layout", "reductions", "networks", "indexing", "others", "second_names",
            "combined", "samples")


def record():
    for family in FAMILIES:
        importlib.import_module("inference." + family)
    return CASES
