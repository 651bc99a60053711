# SPDX-License-Identifier: Apache-2.0
"""The SDK as a repository of Bazel: its BUILD files and rules.

    bazel_packages.files(top, "0.1.0", True)   {"BUILD.bazel": b"...", "runtime/core/BUILD.bazel": ...}

A target has the label that it has in the tree, so that a workspace builds with the SDK or
with the sources, and nothing in it changes. `top` is a folder with the tree's rules.
"""

import pathlib
from typing import Dict, Sequence

TEMPLATES = pathlib.Path(__file__).absolute().parent / "bazel"

# The label in the tree -> the target in bazel/BUILD.in, or a file of the archive.
_RUNTIME = {
    "//:data_loader": "core",
    "//:flat_data": "core",
    "//:runtime": "core",
    "//backends/xnnpack/runtime:runtime": "xnnpack",
    "//extension/c_api:c_api": "c_static",
    "//extension/c_api:header": "c_header",
    "//extension/c_api:libpetrel.so": "lib/libpetrel.so",
    "//extension/levels:levels": "module",
    "//extension/module:heap_allocator": "core",
    "//extension/named_data_map:linked_data_map": "core",
    "//extension/named_data_map:merged_data_map": "core",
    "//extension/named_data_map:safetensors_map": "core",
    "//extension/porting:porting": "module",
    "//extension/tensor:tensor": "core",
    "//runtime/backend:data_cache": "core",
    "//runtime/backend:interface": "core",
    "//runtime/backend:known_options": "core",
    "//runtime/core:core": "core",
    "//runtime/executor:registry": "core",
    "//runtime/kernel:kernel": "core",
    "//runtime/kernels/optimized:kernels": "kernels",
    "//runtime/kernels/portable:kernels": "kernels",
    "//runtime/platform:fast_sha256": "core",
    "//runtime/platform:isa_level": "core",
    "//runtime/selection:selection": "core",
    "//runtime/selection:used_kernels": "libexec/petrel/used_kernels",
    "//runtime/threads:thread_count": "core",
}

_COMPILER = {
    "//:exporter": "compiler",
    "//:petrel": "bin/petrel",
    "//backends/xnnpack/aot:aot": "compiler",
    "//exir:status_macros": "compiler",
    "//exir/backend:backend": "compiler",
    "//exir/backend:routed_blob_store": "compiler",
    "//exir/ir:ir": "compiler",
    "//exir/ir:text": "compiler",
    "//exir/ops:ops": "compiler",
    "//exir/partition:partition": "compiler",
    "//exir/plan:plan": "compiler",
    "//extension/cli:command": "command",
    "//extension/cli:linked_backends": "compiler",
    "//extension/cli:petrel": "bin/petrel",
    "//test/conformance:fixture": "compiler",
    "//test/conformance:suite": "conformance",
    "//third_party/abseil:absl": "abseil",
}

# Files of rules by package, in the tree and here; a command's need the compiler.
_RULES = {"runtime": ("registry.bzl",)}
_RULES_OF_COMPILER = {"extension/cli": ("petrel_cli.bzl", "petrel_pte.bzl"),
                      "test/conformance": ("conformance.bzl",)}

_HEADER = '# SPDX-License-Identifier: Apache-2.0\npackage(default_visibility = ["//visibility:public"])\n'

# The tests of a backend of one's own link the system's: Debian's package libgmock-dev.
_GOOGLETEST = """# SPDX-License-Identifier: Apache-2.0
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

cc_library(
    name = "gtest",
    linkopts = ["-lgtest", "-lpthread"],
)

cc_library(
    name = "gmock",
    linkopts = ["-lgmock"],
    deps = [":gtest"],
)

cc_library(
    name = "gtest_main",
    linkopts = ["-lgtest_main"],
    deps = [":gtest"],
)
"""


def labels(with_compiler: bool) -> Dict[str, str]:
    """What each target that has a label of the tree's leads to."""
    return {**_RUNTIME, **(_COMPILER if with_compiler else {})}


def _rules(with_compiler: bool) -> Dict[str, Sequence[str]]:
    return {**_RULES, **(_RULES_OF_COMPILER if with_compiler else {})}


def _alias(name: str, actual: str) -> str:
    return f'\nalias(\n    name = "{name}",\n    actual = "{actual}",\n)\n'


def _packages(with_compiler: bool) -> Dict[str, str]:
    """BUILD files by their packages, "" being the root."""
    root = (TEMPLATES / "BUILD.in").read_text()
    if with_compiler:
        root += (TEMPLATES / "BUILD_compiler.in").read_text()
    packages = {"": root, "third_party/googletest": _GOOGLETEST}
    for label, target in sorted(labels(with_compiler).items()):
        package, name = label[2:].split(":")
        packages.setdefault(package, _HEADER)
        packages[package] += _alias(name, f"//:{target}")
    for package in _rules(with_compiler):
        packages.setdefault(package, _HEADER)
    return packages


def _rule(top: pathlib.Path, path: str) -> str:
    """Later releases of Bazel have `exec` alone, which in the tree would build tools twice."""
    return (top / path).read_text().replace('cfg = "host"', 'cfg = "exec"')


def files(top: pathlib.Path, version: str, with_compiler: bool) -> Dict[str, bytes]:
    """By their paths in the archive."""
    texts = {"WORKSPACE": '# SPDX-License-Identifier: Apache-2.0\nworkspace(name = "petrel")\n'}
    for package, text in _packages(with_compiler).items():
        texts[f"{package}/BUILD.bazel".lstrip("/")] = text
    templates = {"MODULE.bazel": "MODULE.in", "repositories.bzl": "repositories.bzl.in"}
    if with_compiler:
        templates["extension/cli/command_link.bzl"] = "command_link.bzl.in"
    for package, names in _rules(with_compiler).items():
        for name in names:
            texts[f"{package}/{name}"] = _rule(top, f"{package}/{name}")
    for path, template in templates.items():
        texts[path] = (TEMPLATES / template).read_text().replace("@version@", version)
    return {path: text.encode() for path, text in texts.items()}
