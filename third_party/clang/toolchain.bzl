# SPDX-License-Identifier: Apache-2.0
"""Debian's clang, as a toolchain of Bazel: what --config=fuzz compiles with.

libFuzzer comes with clang only. Which version of it is Debian's to say: bazelw
installs `clang` and `libclang-rt-dev`, and names the version it found here.
"""

load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
)

_COMPILE = ["c-compile", "c++-compile", "assemble", "preprocess-assemble", "c++-header-parsing"]

_LINK = [
    "c++-link-executable",
    "c++-link-dynamic-library",
    "c++-link-nodeps-dynamic-library",
]

def _flags(actions, flags):
    return flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])

def _config_impl(ctx):
    folder = ctx.attr.folder
    features = [
        feature(name = "opt"),
        feature(name = "fastbuild"),
        feature(name = "dbg"),
        feature(name = "supports_pic", enabled = True),
        feature(
            name = "default_flags",
            enabled = True,
            flag_sets = [
                _flags(_COMPILE, [
                    "-U_FORTIFY_SOURCE",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                ]),
                # The tool that links is clang, not clang++.
                _flags(_LINK, ["-lstdc++", "-lm", "-fsanitize-link-c++-runtime"]),
            ],
        ),
    ]
    tools = {name: "/usr/bin/" + name for name in ["ar", "nm", "objcopy", "objdump", "strip", "dwp", "gcov", "ld"]}
    tools.update({"gcc": folder + "/bin/clang", "cpp": folder + "/bin/clang-cpp"})
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "clang",
        host_system_name = "local",
        target_system_name = "local",
        target_cpu = ctx.attr.cpu,
        target_libc = "glibc",
        compiler = "clang",
        abi_version = "gcc",
        abi_libc_version = "glibc",
        features = features,
        cxx_builtin_include_directories = [folder + "/lib/clang", "/usr/lib/clang", "/usr/include"],
        tool_paths = [tool_path(name = name, path = path) for name, path in tools.items()],
    )

clang_toolchain_config = rule(
    implementation = _config_impl,
    attrs = {
        "cpu": attr.string(mandatory = True),
        "folder": attr.string(mandatory = True, doc = "where clang lies, /usr/lib/llvm-14"),
    },
    provides = [CcToolchainConfigInfo],
)

_BUILD = """# SPDX-License-Identifier: Apache-2.0
load("@petrel//third_party/clang:toolchain.bzl", "clang_toolchain_config")

package(default_visibility = ["//visibility:public"])

filegroup(name = "nothing")

[clang_toolchain_config(
    name = cpu + "_config",
    cpu = cpu,
    folder = {folder},
) for cpu in ["k8", "aarch64"]]

[cc_toolchain(
    name = cpu,
    all_files = ":nothing",
    compiler_files = ":nothing",
    dwp_files = ":nothing",
    linker_files = ":nothing",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    supports_param_files = 1,
    toolchain_config = cpu + "_config",
    toolchain_identifier = "clang",
) for cpu in ["k8", "aarch64"]]

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {{
        "aarch64": ":aarch64",
        "aarch64|clang": ":aarch64",
        "k8": ":k8",
        "k8|clang": ":k8",
    }},
)
"""

def _impl(rctx):
    folder = rctx.os.environ.get("PETREL_CLANG") or "/nonexistent"
    rctx.file("BUILD.bazel", _BUILD.format(folder = repr(folder)))

_clang_toolchain = repository_rule(
    implementation = _impl,
    # Set by bazelw when it sees --config=fuzz.
    environ = ["PETREL_CLANG"],
    local = True,
)

def clang_toolchain():
    """Declares @clang, whose :toolchain --config=fuzz chooses."""
    _clang_toolchain(name = "clang")
