# SPDX-License-Identifier: Apache-2.0
"""The kernels and backends of a binary."""

load("@rules_cc//cc:defs.bzl", "cc_library")

_USED_KERNELS = str(Label("//runtime/selection:used_kernels"))

def _package_of(label):
    return label.split("//")[1].split(":")[0].split("/")

def _kernel_function(label):
    return "petrel::runtime::%s_kernels" % _package_of(label)[-1]

def _backend_function(label):
    package = _package_of(label)

    # A target at the root, such as //:xnnpack, says by its own name what it is.
    name = package[1] if package[0] == "backends" else package[-1] or label.split(":")[-1]
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

def _selection(label):
    """The code that defines NAME_used(), the used kernels of a library."""
    package = _package_of(label)
    return """
namespace petrel::runtime {
namespace NAME {
#define PETREL_KERNEL(name, function, outputs) \\
  void function(KernelRuntimeContext& context, Span<EValue*> args);
#include "PATH/kernel_list.inc"
#undef PETREL_KERNEL
}  // namespace NAME
namespace {
constexpr Kernel k_NAME[] = {
#define PETREL_KERNEL(name, function, outputs) {name, &NAME::function, outputs},
#include "PATH/kernel_list.inc"
#undef PETREL_KERNEL
};
constexpr auto k_NAME_used = pick<count_used(k_NAME, kUsed)>(k_NAME, kUsed);
Span<const Kernel> NAME_used() { return k_NAME_used.span(); }
}  // namespace
}  // namespace petrel::runtime
""".replace("NAME", package[-1]).replace("PATH", "/".join(package))

def _selection_function(label):
    return "petrel::runtime::%s_used" % _package_of(label)[-1]

def _registry_source_impl(ctx):
    kernels = ctx.attr.kernel_functions
    backends = ctx.attr.backend_functions
    selections = ctx.attr.selections
    kernel_type = "::petrel::runtime::Span<const ::petrel::runtime::Kernel>"
    lines = ["#include \"runtime/executor/registry.h\"", ""]
    if selections:
        lines += [
            "#include \"runtime/selection/selection.h\"",
            "namespace petrel::runtime {",
            "namespace {",
            "constexpr std::string_view kUsed[] = {",
            "#include \"%s\"" % ctx.attr.used,
            "\"\",",  # an array has at least one element
            "};",
            "}  // namespace",
            "}  // namespace petrel::runtime",
        ]
        lines += [_selection(label) for label in selections]
    selected = [_selection_function(label) for label in selections]
    lines += [
        _declaration(kernel_type, function)
        for function in kernels
        if function not in selected
    ]
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
        "selections": attr.string_list(doc = "labels of libraries to select from"),
        "used": attr.string(doc = "path of the names that used_kernels wrote"),
    },
)

def petrel_registry(
        name,
        kernels = [],
        backends = [],
        programs = [],
        visibility = None,
        **kwargs):
    """A library that defines default_registry().

    runtime/executor/registry.h says what a kernel or backend library must
    define. Exactly one such target may be linked into a binary.

    Args:
      name: the library.
      kernels: labels of kernel libraries, "//label" or "//label=function"; the
        first that has a kernel of a name provides it.
      backends: labels of backends, likewise.
      programs: labels of .pte files. If given, only kernels that these call are
        linked; others are unknown to the runtime. Applies to libraries of the
        form "//a/b/NAME:kernels" that export a/b/NAME/kernel_list.inc, whose
        functions are in namespace petrel::runtime::NAME; others come whole.
      visibility: of the library.
      **kwargs: for both rules, such as testonly.
    """
    selections = [k for k in kernels if programs and "=" not in k]
    kernel_pairs = [(k, _selection_function(k)) for k in selections] + _split(
        [k for k in kernels if k not in selections],
        _kernel_function,
    )
    backend_pairs = _split(backends, _backend_function)
    used = name + "_used.inc"
    if programs:
        native.genrule(
            name = name + "_used",
            srcs = programs,
            outs = [used],
            cmd = "$(execpath %s) $@ $(SRCS)" % _USED_KERNELS,
            tools = [_USED_KERNELS],
            visibility = ["//visibility:private"],
            **kwargs
        )
    _registry_source(
        name = name + "_source",
        out = name + ".cc",
        kernel_functions = [function for _, function in kernel_pairs],
        backend_functions = [function for _, function in backend_pairs],
        selections = selections,
        used = native.package_name() + "/" + used,
        visibility = ["//visibility:private"],
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        # Users call default_registry() without depending on this target.
        alwayslink = True,
        linkopts = ["-Wl,--gc-sections"] if programs else [],
        textual_hdrs = [used] if programs else [],
        visibility = visibility,
        deps = [str(Label("//runtime/executor:registry"))] +
               ([str(Label("//runtime/selection"))] if programs else []) +
               _unique([label for label in
                        [k.partition("=")[0] for k in kernels + backends]]),
        **kwargs
    )
