# SPDX-License-Identifier: Apache-2.0
"""Builds shared libraries for a kind of Android's devices: android/ABI/NAME."""

# As Android calls them -> Bazel's name of the processor.
ABIS = {
    "arm64-v8a": "aarch64",
    "x86_64": "k8",
}

def _transition_impl(settings, attr):
    return {
        "//command_line_option:compiler": "android",
        "//command_line_option:cpu": ABIS[attr.abi],
        "//command_line_option:crosstool_top": "@android//:toolchain",
    }

_for_abi = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compiler",
        "//command_line_option:cpu",
        "//command_line_option:crosstool_top",
    ],
)

def _android_libraries_impl(ctx):
    made = []
    for target in ctx.attr.libraries:
        for file in target.files.to_list():
            copy = ctx.actions.declare_file("android/%s/%s" % (ctx.attr.abi, file.basename))
            ctx.actions.symlink(output = copy, target_file = file)
            made.append(copy)
    return [DefaultInfo(files = depset(made), runfiles = ctx.runfiles(made))]

android_libraries = rule(
    implementation = _android_libraries_impl,
    attrs = {
        "abi": attr.string(mandatory = True, values = ABIS.keys()),
        "libraries": attr.label_list(cfg = _for_abi),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
