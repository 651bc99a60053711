# SPDX-License-Identifier: Apache-2.0
"""Android's NDK as a toolchain of Bazel, for the kinds of devices that Petrel is built for.

    ./bazelw run --ndk ~/android-ndk-r28 //dist:aar -- --output-dir out

bazelw hands the folder on. Without an NDK, stub_ndk.py makes one that is enough to link.
libraries.bzl chooses the toolchain; libraries are for API level 24 (Android 7) or newer, for
pages of 4 and of 16 KB, with the library of C++ inside.
"""

load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
)

# Bazel's name of the processor -> the target as clang calls it.
TARGETS = {
    "aarch64": "aarch64-linux-android24",
    "k8": "x86_64-linux-android24",
}

_COMPILE = ["c-compile", "c++-compile", "assemble", "preprocess-assemble", "c++-header-parsing"]

_LINK = [
    "c++-link-executable",
    "c++-link-dynamic-library",
    "c++-link-nodeps-dynamic-library",
]

_HEADERS = ["flatbuffers", "hwy", "nlohmann"]

# Below the folder where compilers run.
_INCLUDE = "external/android/include"

_PREBUILT = "toolchains/llvm/prebuilt/linux-x86_64"

# Bazel calls one program for C, for C++ and to link; the NDK has two.
_COMPILER = """#!/bin/bash
clang=clang++
for word; do
  case $word in
    *.c | *.s | *.S) clang=clang ;;
  esac
done
# {revision}
exec {bin}/$clang --target={target} "$@"
"""

_ARCHIVER = """#!/bin/sh
exec {bin}/llvm-ar "$@"
"""

_NONE = """#!/bin/sh
echo "there is no NDK: --ndk must name its folder (third_party/android/toolchain.bzl)" >&2
exit 1
"""

def _flags(actions, flags):
    return flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])

def _config_impl(ctx):
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
                    "-g0",
                    "-O2",
                    "-DNDEBUG",
                    # gcc has the warnings.
                    "-w",
                    "-ffunction-sections",
                    "-fdata-sections",
                    "-fno-sanitize=undefined",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                    "-isystem",
                    _INCLUDE,
                ]),
                _flags(_LINK, [
                    "-s",
                    # zig would compile what it links for a build that is debugged.
                    "-O2",
                    "-static-libstdc++",
                    "-Wl,--gc-sections",
                    "-Wl,--no-undefined",
                    "-Wl,-z,relro,-z,now",
                    "-Wl,-z,max-page-size=16384",
                    # Threads are in its C library.
                    "-Lexternal/android/lib",
                ]),
            ],
        ),
    ]
    tools = {
        name: "/bin/false"
        for name in ["nm", "objcopy", "objdump", "strip", "dwp", "gcov", "ld"]
    }
    compiler = "bin/" + ctx.attr.cpu
    tools.update({"ar": "bin/ar", "cpp": compiler, "gcc": compiler})
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "android_" + ctx.attr.cpu,
        host_system_name = "local",
        target_system_name = TARGETS[ctx.attr.cpu],
        target_cpu = ctx.attr.cpu,
        target_libc = "bionic",
        compiler = "android",
        abi_version = "clang",
        abi_libc_version = "bionic",
        features = features,
        cxx_builtin_include_directories = ctx.attr.folders + [_INCLUDE],
        tool_paths = [tool_path(name = name, path = path) for name, path in tools.items()],
    )

android_toolchain_config = rule(
    implementation = _config_impl,
    attrs = {
        "cpu": attr.string(mandatory = True, doc = "as Bazel calls it"),
        "folders": attr.string_list(doc = "where headers of the NDK and its compiler are"),
    },
    provides = [CcToolchainConfigInfo],
)

_BUILD = """# SPDX-License-Identifier: Apache-2.0
load("@petrel//third_party/android:toolchain.bzl", "android_toolchain_config")

package(default_visibility = ["//visibility:public"])

CPUS = {cpus}

exports_files(["revision"])

filegroup(name = "nothing")

filegroup(
    name = "all",
    srcs = ["bin/ar"] + ["bin/" + cpu for cpu in CPUS] + glob(["include/**", "lib/**"]),
)

filegroup(
    name = "notices",
    srcs = glob(["notices/*"], allow_empty = True) + ["revision"],
)

[android_toolchain_config(
    name = cpu + "_config",
    cpu = cpu,
    folders = {folders},
) for cpu in CPUS]

[cc_toolchain(
    name = cpu,
    all_files = ":all",
    ar_files = ":all",
    as_files = ":all",
    compiler_files = ":all",
    dwp_files = ":nothing",
    linker_files = ":all",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    supports_param_files = 1,
    toolchain_config = cpu + "_config",
    toolchain_identifier = "android_" + cpu,
) for cpu in CPUS]

cc_toolchain_suite(
    name = "toolchain",
    toolchains = dict(
        [(cpu, cpu) for cpu in CPUS] + [(cpu + "|android", cpu) for cpu in CPUS],
    ),
)
"""

def _impl(rctx):
    ndk = rctx.os.environ.get("PETREL_NDK")
    revision, folders = "none", []
    if ndk:
        properties = rctx.read(ndk + "/source.properties")
        revision = [
            line.split("=")[1].strip()
            for line in properties.split("\n")
            if line.startswith("Pkg.Revision")
        ][0]
        if rctx.path(ndk + "/STUBS").exists:
            revision = "stubs " + revision
        folders = [ndk]
        if rctx.path(ndk + "/compiler").exists:
            folders.append(rctx.read(ndk + "/compiler").strip())
    for cpu, target in TARGETS.items():
        rctx.file("bin/" + cpu, _COMPILER.format(
            bin = "%s/%s/bin" % (ndk, _PREBUILT),
            revision = revision,
            target = target,
        ) if ndk else _NONE)
    rctx.file("bin/ar", _ARCHIVER.format(bin = "%s/%s/bin" % (ndk, _PREBUILT)) if ndk else _NONE)
    for name in _HEADERS:
        if rctx.path("/usr/include/" + name).exists:
            rctx.symlink("/usr/include/" + name, "include/" + name)
    for name in ["pthread", "rt"]:
        rctx.file("lib/lib%s.a" % name, "!<arch>\n")
    for name in ["NOTICE", "NOTICE.toolchain"]:
        if ndk and rctx.path(ndk + "/" + name).exists:
            rctx.symlink(ndk + "/" + name, "notices/" + name)
    rctx.file("revision", revision + "\n")
    rctx.file("ndk.bzl", "HAS_NDK = %s\n" % bool(ndk))
    rctx.file("BUILD.bazel", _BUILD.format(cpus = repr(TARGETS.keys()), folders = repr(folders)))

_android_toolchain = repository_rule(
    implementation = _impl,
    # Set by bazelw for --ndk.
    environ = ["PETREL_LIBRARIES", "PETREL_NDK"],
    local = True,
)

def android_toolchain():
    """Declares @android, whose :toolchain libraries.bzl chooses."""
    _android_toolchain(name = "android")
