# SPDX-License-Identifier: Apache-2.0
"""Tests under several instruction sets.

    isa_tests(name = "operators", srcs = ["operators_test.cc"], deps = [...])

makes operators_test with what the machine has, operators_lowest_test with the least, and
operators_special_test with kernels that are chosen for one processor only. All are
small, and take their main function from //runtime/platform:isa_test_main.
"""

load("@rules_cc//cc:defs.bzl", "cc_test")

_LEVELS = {
    "test": [],
    "lowest_test": select({
        "//third_party/arm64:arm64": ["--isa=neon"],
        "//conditions:default": ["--isa=sse2"],
    }),
    "special_test": select({
        "//third_party/arm64:arm64": ["--isa=exynos-m1"],
        "//conditions:default": ["--isa=zen"],
    }),
}

def isa_tests(name, deps, **kwargs):
    for suffix, level in _LEVELS.items():
        cc_test(
            name = name + "_" + suffix,
            size = "small",
            args = level,
            deps = deps + ["//runtime/platform:isa_test_main"],
            **kwargs
        )
