# SPDX-License-Identifier: Apache-2.0
"""Which targets everybody may name, and who asks for them.

Everything else is private to its package or names the rooms that see it. A
target that becomes public gets its line here; a line without a target goes.
"""

PUBLIC = "//visibility:public"

# What programs outside of this repository build on.
FOR_USERS = {
    # Apps.
    "//:data_loader": "files, mappings and buffers as sources of programs",
    "//:flat_data": "weights from .ptd files",
    "//:module": "path in, tensors in, tensors out",
    "//:runtime": "programs and methods",
    "//:xnnpack": "the XNNPACK backend, for a registry",
    "//extension/levels:levels": "what integers at inputs and outputs stand for",
    "//extension/module:heap_allocator": "memory from the heap for a method",
    "//extension/named_data_map:linked_data_map": "weights linked into the app",
    "//extension/named_data_map:linked_model_map": "the constants of a package of generated C",
    "//extension/named_data_map:merged_data_map": "several sources of weights as one",
    "//extension/named_data_map:safetensors_map": "weights from .safetensors files",
    "//extension/porting:porting": "ExecuTorch's names, for apps that are being ported",
    "//extension/tensor:tensor": "tensors that own their memory",
    "//runtime/executor:registry": "a registry of kernels and backends",
    "//runtime/kernels/optimized:kernels": "kernels for a registry",
    "//runtime/kernels/portable:kernels": "kernels for a registry",
    "//runtime/platform:older_glibc": "petrel_cli() names it",
    "//runtime/platform:isa_level": "up to which instruction set a process computes",
    "//runtime/platform:fast_sha256": "SHA-256 for programs that are bound to data",
    "//runtime/selection:selection": "petrel_registry() names it",
    "//runtime/selection:used_kernels": "petrel_registry() runs it",
    "//runtime/threads:thread_count": "how many threads a process uses",
    "//runtime:messages": "an option of the build",
    "//runtime:sharing": "an option of the build",
    # Apps elsewhere.
    "//dist:dist": "writes the archives and the wheel of the SDK",
    # Other languages.
    "//extension/c_api:c_api": "the C interface, linked in",
    "//extension/c_api:header": "the C interface's header",
    "//extension/c_api:libpetrel.so": "the C interface, loaded",
    "//extension/python:petrel": "the Python package",
    "//extension/python:wheel": "the Python package as a file",
    # Export.
    "//:exporter": "the compiler as a library",
    "//:petrel": "the command",
    "//exir/plan:plan": "own planners",
    # Authors of backends and kernels.
    "//backends/xnnpack/aot:aot": "XNNPACK beside an own backend",
    "//backends/xnnpack/runtime:runtime": "XNNPACK beside an own backend",
    "//exir/backend:backend": "what a backend implements ahead of time",
    "//exir/backend:routed_blob_store": "where a backend puts weights",
    "//exir/ir:ir": "the graph that a backend reads",
    "//exir/ir:text": "the graph as text",
    "//exir/ops:ops": "what is known about an operator",
    "//exir/partition:partition": "which nodes a backend takes",
    "//exir:status_macros": "the two macros for errors",
    "//extension/cli:command": "the command with own backends",
    "//extension/cli:linked_backends": "the backends of a command",
    "//extension/cli:petrel": "petrel_pte() names it",
    "//extension/fleet:report": "what became of a fleet of exports",
    "//runtime/backend:data_cache": "weights that methods share",
    "//runtime/backend:interface": "what a backend implements at run time",
    "//runtime/backend:known_options": "options that an app sets",
    "//runtime/core:core": "errors, spans, tensors and values",
    "//runtime/kernel:kernel": "what a kernel implements",
    "//test/conformance:fixture": "a backend under test",
    "//test/conformance:suite": "the tests that each backend passes",
}


def violations(rules):
    """One line for each target that differs from the list."""
    public = {
        rule.name for rule in rules.values()
        if PUBLIC in rule.lists.get("visibility", ())
        and not rule.name.startswith("//third_party")
        # Bazel takes conditions for public, whatever they say.
        and rule.kind != "config_setting"
    }
    return sorted(
        ["%s is public, and nobody outside asks for it" % name
         for name in public - set(FOR_USERS)] +
        ["%s is in the list of public targets and is not public" % name
         for name in set(FOR_USERS) - public])
