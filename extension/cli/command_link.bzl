# SPDX-License-Identifier: Apache-2.0
"""What commands are linked with beside their libraries."""

_ZIG = str(Label("//third_party/zig"))

# One file that needs nothing but the C library and what comes with it, so that it can be
# copied to another machine, as remote execution does. Debian's static zlib cannot be part of
# a shared library; here it comes first, so that the shared one is not needed.
COMMAND_LINKOPTS = select({
    _ZIG: [],
    "//conditions:default": [
        "-Wl,--as-needed",
        "-l:libminizip.a",
        "-l:libz.a",
        # Bazel names -lstdc++ itself, last: what it would be asked for must be there already.
        "-Wl,--whole-archive",
        "-l:libstdc++.a",
        "-Wl,--no-whole-archive",
        "-Wl,--gc-sections",
    ],
})

COMMAND_LIBRARIES = select({
    _ZIG: [],
    "//conditions:default": [str(Label("//runtime/platform:older_glibc"))],
})
