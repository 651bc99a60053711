# SPDX-License-Identifier: Apache-2.0
"""The kernels and backends of a binary."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def _package_of(label):
    return label.split("//")[1].split(":")[0].split("/")

def _kernel_function(label):
    return "petrel::runtime::%s_kernels" % _package_of(label)[-1]

def _backend_function(label):
    package = _package_of(label)
    name = package[1] if package[0] == "backends" else package[-1]
    return "petrel::backends::%s::%s_backend" % (name, name)

def _split(entries, default_function):
    """Pairs of label and function of "//label" or "//label=function"."""
    pairs = []
    for entry in entries:
        label, _, function = entry.partition("=")
        pairs.append((label, function or default_function(label)))
    return pairs

def _unique(labels):
    return {label: None for label in labels}.keys()

def _declaration(result, function):
    namespace, _, name = function.rpartition("::")
    return "namespace %s { %s %s(); }" % (namespace, result, name)

def _array(type, name, functions):
    if not functions:
        return "constexpr Span<const %s> %s;" % (type, name)
    return "constexpr %s %s[] = {%s};" % (
        type,
        name,
        ", ".join(["&::" + function for function in functions]),
    )

def _registry_source_impl(ctx):
    kernels = ctx.attr.kernel_functions
    backends = ctx.attr.backend_functions
    kernel_type = "::petrel::runtime::Span<const ::petrel::runtime::Kernel>"
    lines = ["#include \"runtime/executor/registry.h\"", ""]
    lines += [_declaration(kernel_type, function) for function in kernels]
    lines += [_declaration("::petrel::runtime::Backend", function) for function in backends]
    lines += [
        "",
        "namespace petrel::runtime {",
        "namespace {",
        _array("KernelLibrary", "kKernels", kernels),
        _array("BackendLibrary", "kBackends", backends),
        "constexpr Registry kRegistry(kKernels, kBackends);",
        "}  // namespace",
        "const Registry& default_registry() { return kRegistry; }",
        "}  // namespace petrel::runtime",
        "",
    ]
    ctx.actions.write(ctx.outputs.out, "\n".join(lines))

_registry_source = rule(
    implementation = _registry_source_impl,
    attrs = {
        "kernel_functions": attr.string_list(),
        "backend_functions": attr.string_list(),
        "out": attr.output(mandatory = True),
    },
)

def petrel_registry(name, kernels = [], backends = [], visibility = None, **kwargs):
    """A library that defines default_registry().

    runtime/executor/registry.h says what a kernel or backend library must
    define. Exactly one such target may be linked into a binary.

    Args:
      name: the library.
      kernels: labels of kernel libraries, "//label" or "//label=function"; the
        first that has a kernel of a name provides it.
      backends: labels of backends, likewise.
      visibility: of the library.
      **kwargs: for both rules, such as testonly.
    """
    kernel_pairs = _split(kernels, _kernel_function)
    backend_pairs = _split(backends, _backend_function)
    _registry_source(
        name = name + "_source",
        out = name + ".cc",
        kernel_functions = [function for _, function in kernel_pairs],
        backend_functions = [function for _, function in backend_pairs],
        visibility = ["//visibility:private"],
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        # Users call default_registry() without depending on this target.
        alwayslink = True,
        visibility = visibility,
        deps = ["//runtime/executor:registry"] +
               _unique([label for label, _ in kernel_pairs + backend_pairs]),
        **kwargs
    )
