# SPDX-License-Identifier: Apache-2.0
"""Libraries that Debian ships, as Bazel repositories.

Headers stay in /usr/include, where the compiler looks by itself: a repository
of links to that folder breaks `#include_next`. So a library here is its link
options, and the version of its package: as a macro for what compiles with it and
as an empty linker script for what links it, because Bazel sees neither an
upgraded header in /usr/include nor an upgraded static library. A missing package
becomes a target that fails, when it is built, and names what to install.
"""

_HEADER = """# SPDX-License-Identifier: Apache-2.0
package(default_visibility = ["//visibility:public"])

"""

_LIBRARY = """cc_library(
    name = {name},
    defines = {defines},
    includes = {includes},
    hdrs = glob({hdrs}, allow_empty = True),
    linkopts = {linkopts},
    deps = {deps},
)

"""

# Debian's is for its own machines; third_party/zig compiles the source for others.
_OR_SOURCE = """alias(
    name = {name},
    actual = select({{
        {zig}: {source},
        "//conditions:default": {system},
    }}),
)

"""

_SHARED = """exports_files(["shared.lds"])

filegroup(
    name = "nothing",
    srcs = glob(["nothing/*.a"], allow_empty = True),
)

cc_library(
    name = "shared_instead",
    linkopts = ["-L{folder}"],
)

"""

_MISSING = """genrule(
    name = {genrule},
    outs = [{out}],
    cmd = "echo 'install {package}' >&2; exit 1",
)

cc_library(
    name = {name},
    hdrs = [{genrule}],
)

"""

def _version(rctx, package):
    result = rctx.execute(["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}", package])
    words = result.stdout.strip().split(" ")
    if result.return_code or len(words) != 2 or words[0] != "installed":
        return None
    return words[1]

# Where Debian keeps what depends on the machine.
_MACHINE = "x86_64-linux-gnu"

def _other_headers(rctx):
    """Folder in the repository -> the one that is asked for instead of Debian's."""
    asked = {d: rctx.os.environ.get(name) for d, name in rctx.attr.header_variables.items()}
    found = {d: path for d, path in asked.items() if path}
    for folder, path in found.items():
        rctx.symlink(path, folder)
        own = rctx.path(path).dirname.get_child(_MACHINE).get_child(rctx.path(path).basename)
        if own.exists:
            rctx.symlink(own, "%s_of_machine/%s/%s" % (folder, _MACHINE, own.basename))
    return found

def _libraries(rctx, ending):
    """Names of the libraries of the package, such as absl_strings."""
    files = rctx.execute(["dpkg-query", "-L", rctx.attr.package]).stdout.split("\n")
    names = sorted([f.split("/")[-1] for f in files if f.endswith(ending)])
    return [
        n[len("lib"):-len(ending)]
        for n in names
        if n.startswith(rctx.attr.static_prefix) and not n.startswith(rctx.attr.static_exclude)
    ]

def _all_static(rctx):
    """Link options for every static library of a package, in one group.

    The group makes their order irrelevant.
    """
    names = _libraries(rctx, ".a")
    if not names:
        fail("package %s has no library %s*.a" % (rctx.attr.package, rctx.attr.static_prefix))
    return ["-Wl,--start-group"] + ["-l:lib%s.a" % n for n in names] + ["-Wl,--end-group"]

def _shared_instead(rctx):
    """What a shared library links: the static libraries are not made for it.

    A linker script that names every shared library, of which those stay that are
    needed, and a folder with nothing under the names of the static ones: shared
    libraries need each other, and the linker would look for that in static ones.
    """
    names = _libraries(rctx, ".so")
    for name in names:
        rctx.file("nothing/lib%s.a" % name, "/* lib%s.so instead */\n" % name)
    rctx.file("shared.lds", "INPUT(AS_NEEDED(\n%s\n))\n" % "\n".join([
        "lib%s.so" % n
        for n in names
    ]) if names else "")
    return _SHARED.format(folder = "external/%s/nothing" % rctx.name)

def _impl(rctx):
    build = _HEADER
    version = _version(rctx, rctx.attr.package)
    others = _other_headers(rctx)
    folders = others.keys() or rctx.attr.header_links.keys()
    includes = folders + [folder + "_of_machine" for folder in others]
    defines = rctx.attr.defines
    if not others:
        defines = defines + ["PETREL_DEBIAN_%s=%s" % (
            rctx.attr.package.upper().replace("-", "_"),
            version,
        )]
    for name, linkopts in rctx.attr.libraries.items():
        if version == None and not others:
            build += _MISSING.format(
                genrule = repr(name + "_is_missing"),
                name = repr(name),
                out = repr(name + "_is_missing.h"),
                package = rctx.attr.package,
            )
            continue
        if linkopts == ["*"]:
            linkopts = _all_static(rctx) + ["-lpthread"]
        system = name
        if name in rctx.attr.sources:
            system = name + "_of_system"
            build += _OR_SOURCE.format(
                name = repr(name),
                source = repr(str(rctx.attr.sources[name])),
                system = repr(system),
                zig = repr("@petrel//third_party/zig"),
            )
        build += _LIBRARY.format(
            defines = repr(defines),
            deps = repr(rctx.attr.library_deps.get(name, []) + ["package_version.lds"]),
            hdrs = repr([d + "/**/*.h" for d in includes]),
            includes = repr(includes),
            linkopts = repr(linkopts),
            name = repr(system),
        )
    series = ".".join((version or "").split(".")[:2])
    for link, path in rctx.attr.header_links.items():
        path = path.replace("{series}", series)
        if not others and rctx.path(path).exists:
            rctx.symlink(path, link)
    if rctx.attr.exports:
        build += "exports_files(%r)\n\n" % rctx.attr.exports
    for name, path in rctx.attr.tools.items():
        if version == None or not rctx.path(path).exists:
            build += _MISSING.format(
                genrule = repr(name),
                name = repr(name + "_library"),
                out = repr(name + "_is_missing"),
                package = rctx.attr.package,
            )
        else:
            rctx.symlink(path, "bin/" + name)
            build += "filegroup(name = %r, srcs = [%r])\n\n" % (name, "bin/" + name)
    if rctx.attr.static_prefix:
        build += _shared_instead(rctx)
    rctx.file("package_version.lds", "/* %s %s */\n" % (rctx.attr.package, version))
    rctx.file("BUILD.bazel", build)

_debian_library = repository_rule(
    implementation = _impl,
    attrs = {
        "package": attr.string(mandatory = True, doc = "Debian package that has the headers."),
        "libraries": attr.string_list_dict(doc = "Target -> link options; * for all static libraries."),
        "library_deps": attr.string_list_dict(doc = "Target -> other targets."),
        "sources": attr.string_dict(doc = "Target -> what is built from source instead, for zig."),
        "defines": attr.string_list(),
        "header_links": attr.string_dict(doc = "Folder in the repository -> folder of headers outside the compiler's path; {series} is the first two numbers of the package's version."),
        "header_variables": attr.string_dict(doc = "Folder in the repository -> environment variable that may name a folder of headers to be taken instead."),
        "exports": attr.string_list(doc = "Headers that are read as files."),
        "tools": attr.string_dict(doc = "Target -> executable."),
        "static_prefix": attr.string(),
        "static_exclude": attr.string(),
    },
    # Set by bazelw: an upgrade of any package makes these rules run again.
    environ = ["PETREL_LIBRARIES", "PETREL_PYBIND11", "PETREL_PYTHON_INCLUDE"],
    local = True,
)

def system_libraries():
    """Declares the repositories of all libraries that come from Debian."""
    _debian_library(
        name = "abseil",
        package = "libabsl-dev",
        libraries = {"absl": ["*"]},
        sources = {"absl": "@abseil_source//:absl"},
        static_prefix = "libabsl_",
        # Command-line flags register themselves when linked; nothing uses them.
        static_exclude = "libabsl_flags",
    )
    _debian_library(
        name = "flatbuffers",
        package = "libflatbuffers-dev",
        libraries = {
            # The reader and builder are headers only.
            "flatbuffers": [],
            # The schema parser and the reflection of files.
            "parser": ["-l:libflatbuffers.a"],
        },
    )
    _debian_library(
        name = "flatc",
        package = "flatbuffers-compiler",
        tools = {"flatc": "/usr/bin/flatc"},
    )
    _debian_library(
        name = "googletest",
        package = "libgmock-dev",
        libraries = {
            "gtest": ["-lgtest", "-lpthread"],
            "gtest_main": ["-lgtest_main"],
            "gmock": ["-lgmock"],
        },
        library_deps = {
            "gtest_main": [":gtest"],
            "gmock": [":gtest"],
        },
    )
    _debian_library(
        name = "benchmark",
        package = "libbenchmark-dev",
        libraries = {
            "benchmark": ["-lbenchmark", "-lpthread"],
            "benchmark_main": ["-lbenchmark_main"],
        },
        library_deps = {"benchmark_main": [":benchmark"]},
    )
    _debian_library(
        name = "rapidjson",
        package = "rapidjson-dev",
        libraries = {"rapidjson": []},
        sources = {"rapidjson": "@rapidjson_source//:rapidjson"},
    )
    _debian_library(
        name = "nlohmann_json",
        package = "nlohmann-json3-dev",
        libraries = {"json": []},
    )
    _debian_library(
        name = "minizip",
        package = "libminizip-dev",
        libraries = {"minizip": ["-l:libminizip.a", "-lz"]},
        sources = {"minizip": "@zlib_source//:minizip"},
    )
    _debian_library(
        name = "cli11",
        package = "libcli11-dev",
        libraries = {"cli11": []},
    )
    _debian_library(
        name = "highway",
        package = "libhwy-dev",
        # Headers only; runtime/kernels/optimized/instruction_sets.h says why.
        libraries = {"highway": []},
        defines = ["HWY_SHARED_DEFINE"],
    )
    _debian_library(
        name = "openssl",
        package = "libssl-dev",
        # The shared library costs a process a megabyte and a millisecond; of
        # the static one <openssl/sha.h> alone takes 20 kB.
        libraries = {
            "crypto": ["-lcrypto"],
            "sha": ["-l:libcrypto.a"],
        },
        # Behind the shared one, which has all that the static one needs others for.
        library_deps = {"crypto": [":sha"]},
    )
    _debian_library(
        name = "python_headers",
        package = "libpython3-dev",
        libraries = {"python_headers": []},
        header_links = {"python3": "/usr/include/python{series}"},
        header_variables = {"python3": "PETREL_PYTHON_INCLUDE"},
        exports = ["python3/patchlevel.h"],
    )
    _debian_library(
        name = "pybind11",
        package = "pybind11-dev",
        libraries = {"pybind11": []},
        header_variables = {"include": "PETREL_PYBIND11"},
        library_deps = {"pybind11": ["@python_headers//:python_headers"]},
    )
