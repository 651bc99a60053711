# SPDX-License-Identifier: Apache-2.0
"""The compiler of the package ziglang, as a toolchain of Bazel: for libraries that run on
machines older than the one that builds them, or of another kind.

    ./bazelw build --config=zig_x86_64 //extension/c_api:libpetrel.so    # glibc 2.17
    ./bazelw build --config=zig_arm64 //extension/c_api:libpetrel.so
    ./bazelw build --config=zig_musl_x86_64 ...                          # musl
    ./bazelw build --config=zig_musl_arm64 ...
    ./bazelw build --config=zig_windows_x86_64 //extension/c_api:petrel.dll
    ./bazelw build --config=zig_macos_arm64 //extension/c_api:libpetrel.dylib
    ./bazelw run --config=zig_apple //dist:xcframework ...               # apple.bzl

It brings C libraries of its own and clang's of C++, linked into the result. An archive of
C++ made so would serve its own users alone: what these configurations are for is the
shared library of the C interface. Headers of Debian that belong to no machine (FlatBuffers,
Highway, nlohmann's JSON) are reached through a folder of links.
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

# System -> C library and processor as Bazel calls it -> target as zig calls it. 2.17 is the
# glibc of manylinux2014, the oldest that PyPI takes; 11.0 the first macOS for arm64. A target
# that is added to a system has all of that system compiled anew.
_TARGETS = {
    "ios_device": {
        "ios_device_aarch64": "aarch64-ios.15.0",
    },
    "ios_simulator": {
        "ios_simulator_aarch64": "aarch64-ios.15.0-simulator",
        "ios_simulator_k8": "x86_64-ios.15.0-simulator",
    },
    "linux": {
        "gnu_aarch64": "aarch64-linux-gnu.2.17",
        "gnu_k8": "x86_64-linux-gnu.2.17",
        "musl_aarch64": "aarch64-linux-musl",
        "musl_k8": "x86_64-linux-musl",
    },
    "macos": {
        "macos_aarch64": "aarch64-macos.11.0",
        "macos_k8": "x86_64-macos.11.0",
    },
    "windows": {
        "windows_aarch64": "aarch64-windows-gnu",
        "windows_k8": "x86_64-windows-gnu",
    },
}

_SYSTEM_OF = {target: system for system, targets in _TARGETS.items() for target in targets}

# Apple has no list of what a library shows: what is not marked is hidden. zig takes it that what
# its headers of C++ speak of is in the library of C++; a system's of that age has less, and the
# headers know what.
_APPLE = ["-fvisibility=hidden", "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1"]

_COMPILE_FLAGS = {
    "ios_device": _APPLE,
    "ios_simulator": _APPLE,
    "linux": [],
    "macos": _APPLE,
    "windows": [],
}

_APPLE_LINK = ["-s", "-Wl,-dead_strip"]

# How a library of a system is linked. For iOS zig has no libraries of the system to link.
_LINK_FLAGS = {
    "ios_device": _APPLE_LINK,
    "ios_simulator": _APPLE_LINK,
    "linux": ["-s", "-Wl,--gc-sections", "-Wl,-z,relro,-z,now"],
    "macos": _APPLE_LINK,
    "windows": ["-s", "-Wl,--gc-sections"],
}

# Of what it links into a library.
_LICENCES = {
    "compiler_rt": "LICENSE",
    "libcxx": "lib/libcxx/LICENSE.TXT",
    "libcxxabi": "lib/libcxxabi/LICENSE.TXT",
    "libunwind": "lib/libunwind/LICENSE.TXT",
    "mingw": "lib/libc/mingw/COPYING",
}

_HEADERS = ["CLI", "flatbuffers", "hwy", "nlohmann"]

# Below the folder where compilers run.
_INCLUDE = "external/zig/include"

# zig has the headers of Apple's C library, and looks for them for macOS alone.
_DARWIN = "-idirafter {zig}/lib/libc/include/any-darwin-any "

# Bazel calls one program for C, for C++ and to link; zig has two. It names extensions of
# arm64 by -mcpu alone, and one of them otherwise than GCC.
_COMPILER = """#!/bin/bash
export ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}
words=() verb=c++
for word; do
  case $word in
    *.c | *.s | *.S) verb=cc ;;
    -march=armv8.2-a*)
      word=${{word#-march=armv8.2-a}}
      word=-mcpu=generic+v8_2a${{word/+fp16/+fullfp16}}
      ;;
  esac
  words+=("$word")
done
exec {zig}/zig $verb -target {target} {headers}"${{words[@]}}"
"""

_ARCHIVER = """#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}
exec {zig}/zig ar "$@"
"""

# Makes what is linked in place of a DLL.
_DLL_TOOL = """#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR={cache} ZIG_LOCAL_CACHE_DIR={cache}
exec {zig}/zig dlltool "$@"
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
                    "-ffunction-sections",
                    "-fdata-sections",
                    "-fno-sanitize=undefined",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                    "-isystem",
                    _INCLUDE,
                ] + _COMPILE_FLAGS[_SYSTEM_OF[ctx.attr.target]]),
                _flags(_LINK, _LINK_FLAGS[_SYSTEM_OF[ctx.attr.target]]),
            ],
        ),
    ]
    tools = {name: "/bin/false" for name in ["nm", "objcopy", "objdump", "strip", "dwp", "gcov", "ld"]}
    compiler = "bin/" + ctx.attr.target
    tools.update({"ar": "bin/ar", "cpp": compiler, "gcc": compiler})
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = ctx.attr.target,
        host_system_name = "local",
        target_system_name = ctx.attr.target,
        target_cpu = ctx.attr.target.split("_")[-1],
        target_libc = ctx.attr.target.split("_")[0],
        compiler = "zig",
        abi_version = "clang",
        abi_libc_version = ctx.attr.target.split("_")[0],
        features = features,
        cxx_builtin_include_directories = [ctx.attr.zig, _INCLUDE],
        tool_paths = [tool_path(name = name, path = path) for name, path in tools.items()],
    )

zig_toolchain_config = rule(
    implementation = _config_impl,
    attrs = {
        "target": attr.string(mandatory = True, doc = "C library and processor, as gnu_k8"),
        "zig": attr.string(mandatory = True, doc = "folder of the compiler"),
    },
    provides = [CcToolchainConfigInfo],
)

_BUILD = """# SPDX-License-Identifier: Apache-2.0
load("@petrel//third_party/zig:toolchain.bzl", "zig_toolchain_config")

package(default_visibility = ["//visibility:public"])

TARGETS = {targets}

exports_files([
    "bin/ar",
    "bin/dlltool",
])

filegroup(name = "nothing")

[filegroup(
    name = system + "_programs",
    srcs = ["bin/ar"] + ["bin/" + target for target in targets],
) for system, targets in TARGETS.items()]

[filegroup(
    name = system + "_compiler",
    srcs = [system + "_programs"] + glob(["include/**"], allow_empty = True),
) for system in TARGETS]

filegroup(
    name = "licences",
    srcs = ["version"] + glob(["licences/*.txt"], allow_empty = True),
)

[zig_toolchain_config(
    name = target + "_config",
    target = target,
    zig = {zig},
) for targets in TARGETS.values() for target in targets]

[cc_toolchain(
    name = target,
    all_files = system + "_compiler",
    ar_files = system + "_programs",
    as_files = system + "_compiler",
    compiler_files = system + "_compiler",
    dwp_files = ":nothing",
    linker_files = system + "_programs",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    supports_param_files = 1,
    toolchain_config = target + "_config",
    toolchain_identifier = target,
) for system, targets in TARGETS.items() for target in targets]

[cc_toolchain_suite(
    name = library,
    toolchains = {{
        "aarch64": library + "_aarch64",
        "aarch64|zig": library + "_aarch64",
        "k8": library + "_k8",
        "k8|zig": library + "_k8",
    }},
) for library in ["gnu", "macos", "musl", "windows"]]

# There are no devices of x86-64.
cc_toolchain_suite(
    name = "ios_device",
    toolchains = {{
        "aarch64": "ios_device_aarch64",
        "aarch64|zig": "ios_device_aarch64",
    }},
)

cc_toolchain_suite(
    name = "ios_simulator",
    toolchains = {{
        "aarch64": "ios_simulator_aarch64",
        "aarch64|zig": "ios_simulator_aarch64",
        "k8": "ios_simulator_k8",
        "k8|zig": "ios_simulator_k8",
    }},
)
"""

def _impl(rctx):
    zig = rctx.os.environ.get("PETREL_ZIG") or "/nonexistent"
    values = {"cache": rctx.os.environ.get("PETREL_ZIG_CACHE") or "/nonexistent", "zig": zig}
    for name, target in [row for targets in _TARGETS.values() for row in targets.items()]:
        rctx.file("bin/" + name, _COMPILER.format(
            headers = _DARWIN.format(zig = zig) if name.startswith("ios") else "",
            target = target,
            **values
        ))
    rctx.file("bin/ar", _ARCHIVER.format(**values))
    rctx.file("bin/dlltool", _DLL_TOOL.format(**values))
    for name in _HEADERS:
        if rctx.path("/usr/include/" + name).exists:
            rctx.symlink("/usr/include/" + name, "include/" + name)
    for name, path in _LICENCES.items():
        if rctx.path(zig + "/" + path).exists:
            rctx.symlink(zig + "/" + path, "licences/%s.txt" % name)
    rctx.file("version", zig.split("/")[-1].split("-")[1] + "\n" if "-" in zig else "")
    rctx.file("BUILD.bazel", _BUILD.format(
        targets = repr(_TARGETS),
        zig = repr(zig),
    ))

_zig_toolchain = repository_rule(
    implementation = _impl,
    # Set by bazelw when it sees one of these configurations.
    environ = ["PETREL_LIBRARIES", "PETREL_ZIG", "PETREL_ZIG_CACHE"],
    local = True,
)

def zig_toolchain():
    """Declares @zig, whose :gnu, :musl, :windows and :macos the configurations choose, and
    :ios_device and :ios_simulator apple.bzl."""
    _zig_toolchain(name = "zig")
