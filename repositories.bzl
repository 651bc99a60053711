# SPDX-License-Identifier: Apache-2.0
"""The repositories that Petrel is built with, for its own workspace and for others.

Another workspace builds with Petrel's targets, @petrel//..., when its WORKSPACE says

    local_repository(name = "petrel", path = PATH)
    load("@petrel//:repositories.bzl", "petrel_repositories")
    petrel_repositories(PATH)

and when PATH/bazelw runs its builds, with PETREL_WORKSPACE naming its folder.
`petrel new-backend NAME --workspace FOLDER` writes both.
"""

load("//third_party:sources.bzl", "libraries_for_zig", "source_libraries")
load("//third_party:system_libraries.bzl", "system_libraries")
load("//third_party/android:toolchain.bzl", "android_toolchain")
load("//third_party/arm64:toolchain.bzl", "arm64_toolchain")
load("//third_party/clang:toolchain.bzl", "clang_toolchain")
load("//third_party/zig:toolchain.bzl", "zig_toolchain")

def petrel_repositories(path = "."):
    """Declares them and registers their toolchain.

    Args:
      path: of Petrel's tree, absolute or from the workspace.
    """

    # Debian's Bazel comes with incompatible or no copies of these.
    native.local_repository(
        name = "rules_cc",
        path = path + "/third_party/rules_cc",
    )
    native.local_repository(
        name = "rules_java",
        path = "/usr/share/bazel/rules/java",
    )
    native.local_repository(
        name = "remote_coverage_tools",
        path = path + "/third_party/remote_coverage_tools",
    )
    system_libraries()
    source_libraries()
    android_toolchain()
    arm64_toolchain()
    clang_toolchain()
    libraries_for_zig()
    zig_toolchain()
    native.register_toolchains(str(Label("//third_party/python:toolchain")))
