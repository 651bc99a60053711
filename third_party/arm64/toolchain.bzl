# SPDX-License-Identifier: Apache-2.0
"""Debian's cross compiler for arm64, as a toolchain of Bazel.

Its libraries are those that third_party/arm64/sysroot.sh unpacked; their headers
come after the compiler's own, as /usr/include does in a native build.
"""

load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)

_TRIPLE = "aarch64-linux-gnu"

_COMPILE = ["c-compile", "c++-compile", "assemble", "preprocess-assemble", "c++-header-parsing"]

_LINK = [
    "c++-link-executable",
    "c++-link-dynamic-library",
    "c++-link-nodeps-dynamic-library",
]

def _flags(actions, flags, modes = None):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)],
        with_features = [with_feature_set(features = [mode]) for mode in modes or []],
    )

def _config_impl(ctx):
    sysroot = ctx.attr.sysroot
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
                    "-fstack-protector",
                    "-fno-canonical-system-headers",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                    "-idirafter",
                    sysroot + "/usr/include",
                    "-idirafter",
                    sysroot + "/usr/include/" + _TRIPLE,
                ]),
                _flags(
                    _COMPILE,
                    ["-g0", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
                    ["opt"],
                ),
                _flags(_LINK, [
                    "-lstdc++",
                    "-lm",
                    "-L%s/usr/lib/%s" % (sysroot, _TRIPLE),
                    "-L%s/lib/%s" % (sysroot, _TRIPLE),
                    "-Wl,-z,relro,-z,now",
                ]),
                _flags(_LINK, ["-Wl,--gc-sections"], ["opt"]),
            ],
        ),
    ]
    tools = {"gcc": "gcc", "cpp": "cpp", "ld": "ld"}
    tools.update({name: name for name in ["ar", "nm", "objcopy", "objdump", "strip", "dwp", "gcov"]})
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "arm64",
        host_system_name = "local",
        target_system_name = _TRIPLE,
        target_cpu = "aarch64",
        target_libc = "glibc",
        compiler = "gcc",
        abi_version = "gcc",
        abi_libc_version = "glibc",
        features = features,
        cxx_builtin_include_directories = [
            "/usr/lib/gcc-cross/" + _TRIPLE,
            "/usr/" + _TRIPLE + "/include",
            "/usr/include",
            sysroot + "/usr/include",
        ],
        tool_paths = [
            tool_path(name = name, path = "/usr/bin/%s-%s" % (_TRIPLE, tool))
            for name, tool in tools.items()
        ],
    )

arm64_toolchain_config = rule(
    implementation = _config_impl,
    attrs = {"sysroot": attr.string(mandatory = True, doc = "folder of sysroot.sh")},
    provides = [CcToolchainConfigInfo],
)

_BUILD = """# SPDX-License-Identifier: Apache-2.0
load("@petrel//third_party/arm64:toolchain.bzl", "arm64_toolchain_config")

package(default_visibility = ["//visibility:public"])

filegroup(name = "nothing")

arm64_toolchain_config(
    name = "config",
    sysroot = {sysroot},
)

cc_toolchain(
    name = "gcc",
    all_files = ":nothing",
    compiler_files = ":nothing",
    dwp_files = ":nothing",
    linker_files = ":nothing",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    supports_param_files = 1,
    toolchain_config = ":config",
    toolchain_identifier = "arm64",
)

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {{
        "aarch64": ":gcc",
        "aarch64|gcc": ":gcc",
    }},
)
"""

def _impl(rctx):
    sysroot = rctx.os.environ.get("PETREL_ARM64_SYSROOT") or "/nonexistent"
    rctx.file("BUILD.bazel", _BUILD.format(sysroot = repr(sysroot)))

_arm64_toolchain = repository_rule(
    implementation = _impl,
    # Set by bazelw when it sees --config=arm64.
    environ = ["PETREL_ARM64_SYSROOT"],
    local = True,
)

def arm64_toolchain():
    """Declares @arm64, whose :toolchain --config=arm64 chooses."""
    _arm64_toolchain(name = "arm64")
