# SPDX-License-Identifier: Apache-2.0
"""Binaries as firmware builds them, whatever the rest is built with."""

# Frame pointers and stack protectors are what Bazel's toolchain adds for hosts; a compiler of
# firmware has neither unless it is asked.
_COPTS = [
    "-Os",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-asynchronous-unwind-tables",
    "-fomit-frame-pointer",
    "-fno-stack-protector",
]
_CXXOPTS = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
_LINKOPTS = ["-Wl,--gc-sections", "-Wl,--build-id=none"]

def _for_size_impl(settings, attr):
    # As --config=size has it.
    copts = _COPTS + (["-Oz"] if attr.smallest else [])
    whole = ["-flto"] if attr.whole or attr.smallest else []
    return {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:copt": copts + whole,
        "//command_line_option:cxxopt": _CXXOPTS,
        "//command_line_option:linkopt": _LINKOPTS + (copts + whole if whole else []),
        "//runtime:messages": "none" if attr.silent or attr.smallest else "full",
        "//runtime:sharing": "none" if attr.smallest else "process",
    }

_for_size = transition(
    implementation = _for_size_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:copt",
        "//command_line_option:cxxopt",
        "//command_line_option:linkopt",
        "//runtime:messages",
        "//runtime:sharing",
    ],
)

def _sized_binary_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = out, target_file = ctx.executable.binary, is_executable = True)
    return [DefaultInfo(executable = out, runfiles = ctx.runfiles([out]))]

sized_binary = rule(
    doc = "A cc_binary and all it is made of, compiled with -Os, its unused sections dropped.",
    implementation = _sized_binary_impl,
    attrs = {
        "binary": attr.label(executable = True, cfg = _for_size, mandatory = True),
        "silent": attr.bool(doc = "Whether the runtime is built without its messages."),
        "smallest": attr.bool(doc = "Whether it is built as --config=size builds it."),
        "whole": attr.bool(doc = "Whether it is optimised as a whole when it is linked."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)
