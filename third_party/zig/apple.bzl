# SPDX-License-Identifier: Apache-2.0
"""Builds archives for each of Apple's machines: apple/MACHINE/NAME.

    ./bazelw run --config=zig_apple //dist:xcframework -- --output-dir out
"""

# As XCFrameworks call them -> the toolchain and Bazel's name of the processor.
MACHINES = {
    "ios-arm64": ("ios_device", "aarch64"),
    "ios-arm64-simulator": ("ios_simulator", "aarch64"),
    "ios-x86_64-simulator": ("ios_simulator", "k8"),
    "macos-arm64": ("macos", "aarch64"),
    "macos-x86_64": ("macos", "k8"),
}

def _transition_impl(settings, attr):
    toolchain, cpu = MACHINES[attr.machine]
    return {
        "//command_line_option:compiler": "zig",
        # gcc has the warnings.
        "//command_line_option:copt": ["-w"],
        "//command_line_option:cpu": cpu,
        "//command_line_option:crosstool_top": "@zig//:" + toolchain,
    }

_for_machine = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compiler",
        "//command_line_option:copt",
        "//command_line_option:cpu",
        "//command_line_option:crosstool_top",
    ],
)

def _apple_archive_impl(ctx):
    copy = ctx.actions.declare_file("apple/%s/%s" % (ctx.attr.machine, ctx.attr.archive_name))
    ctx.actions.symlink(output = copy, target_file = ctx.files.archive[0])
    return [DefaultInfo(files = depset([copy]), runfiles = ctx.runfiles([copy]))]

apple_archive = rule(
    implementation = _apple_archive_impl,
    attrs = {
        "archive": attr.label(mandatory = True, cfg = _for_machine, allow_files = True),
        "archive_name": attr.string(mandatory = True),
        "machine": attr.string(mandatory = True, values = MACHINES.keys()),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
