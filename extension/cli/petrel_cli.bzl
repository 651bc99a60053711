# SPDX-License-Identifier: Apache-2.0
"""The petrel command with the backends that a project wants."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//runtime:registry.bzl", "petrel_registry")
load(":command_link.bzl", "COMMAND_LIBRARIES", "COMMAND_LINKOPTS")

def _folder_and_name(entry):
    """"//a/b/NAME" or "//a/b=NAME" as the folder and the name."""
    folder, _, name = entry.partition("=")
    return folder, name or folder.split("/")[-1]

def _linked_backends_impl(ctx):
    lines = ["#include \"extension/cli/linked_backends.h\"", ""]
    rows = []
    for name in ctx.attr.names:
        scope = "petrel::backends::%s::aot" % name
        lines.append("namespace %s { const ::petrel::exir::Backend* %s_backend(); }" %
                     (scope, name))
        rows.append("      {\"%s\", &::%s::%s_backend}," % (name, scope, name))
    lines += [
        "namespace petrel::extension {",
        "const std::vector<LinkedBackend>& linked_backends() {",
        "  static const auto* const kBackends = new std::vector<LinkedBackend>{",
    ] + rows + [
        "  };",
        "  return *kBackends;",
        "}",
        "}  // namespace petrel::extension",
        "",
    ]
    ctx.actions.write(ctx.outputs.out, "\n".join(lines))

_linked_backends = rule(
    implementation = _linked_backends_impl,
    attrs = {
        "names": attr.string_list(),
        "out": attr.output(mandatory = True),
    },
)

_KERNELS = [
    Label("//runtime/kernels/optimized:kernels"),
    Label("//runtime/kernels/portable:kernels"),
]

def petrel_cli(name, backends, compilers = [], kernels = _KERNELS, visibility = None, **kwargs):
    """The command `name` with both halves of each backend.

    The folder //a/b/NAME stands for a backend whose compiler half is the target
    //a/b/NAME/aot, which defines
        const petrel::exir::Backend* petrel::backends::NAME::aot::NAME_backend();
    and whose runtime half is the target //a/b/NAME/runtime, which defines
        petrel::runtime::Backend petrel::backends::NAME::NAME_backend();

    Args:
      name: the binary.
      backends: folders, "//a/b/NAME" or "//a/b=NAME"; the first is the default
        of `petrel export`.
      compilers: folders of backends of which the command has the compiler half alone, for
        devices that this machine has not.
      kernels: libraries as petrel_registry takes them; the first kernel of a
        name wins.
      visibility: of the binary.
      **kwargs: for all targets, such as testonly.
    """
    pairs = [_folder_and_name(entry) for entry in backends]
    compiled = pairs + [_folder_and_name(entry) for entry in compilers]
    private = ["//visibility:private"]
    _linked_backends(
        name = name + "_linked_backends_source",
        out = name + "_linked_backends.cc",
        names = [backend for _, backend in compiled],
        visibility = private,
        **kwargs
    )
    cc_library(
        name = name + "_linked_backends",
        srcs = [name + "_linked_backends.cc"],
        alwayslink = True,
        visibility = private,
        deps = [str(Label("//extension/cli:linked_backends"))] +
               [folder + "/aot" for folder, _ in compiled],
        **kwargs
    )
    petrel_registry(
        name = name + "_registry",
        backends = [
            "%s/runtime=petrel::backends::%s::%s_backend" % (folder, backend, backend)
            for folder, backend in pairs
        ],
        kernels = [str(library) for library in kernels],
        visibility = private,
        **kwargs
    )
    cc_binary(
        name = name,
        linkopts = COMMAND_LINKOPTS,
        visibility = visibility,
        deps = [
            ":%s_linked_backends" % name,
            ":%s_registry" % name,
            str(Label("//extension/cli:command")),
        ] + COMMAND_LIBRARIES,
        **kwargs
    )
