# SPDX-License-Identifier: Apache-2.0
"""The parts of the SDK that Bazel does not make by itself: archives and headers."""

def _objects(deps):
    """The objects of libraries and of all that they need, in the order of linking."""
    found = {}
    for dep in deps:
        for input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in input.libraries:
                for object in library.pic_objects or library.objects or []:
                    found[object] = True
    return found

def _static_archive_impl(ctx):
    others = _objects(ctx.attr.without)
    own = [object for object in _objects(ctx.attr.deps) if object not in others]
    if not own:
        fail("%s would be empty" % ctx.label)
    arguments = ctx.actions.args()
    arguments.add("qcsD")
    arguments.add(ctx.outputs.archive)
    arguments.add_all(own)
    arguments.set_param_file_format("multiline")
    arguments.use_param_file("@%s", use_always = True)
    ctx.actions.run(
        executable = ctx.executable.archiver or "/usr/bin/ar",
        arguments = [arguments],
        inputs = own,
        outputs = [ctx.outputs.archive],
        mnemonic = "StaticArchive",
    )
    return [DefaultInfo(
        files = depset([ctx.outputs.archive]),
        runfiles = ctx.runfiles([ctx.outputs.archive]),
    )]

_static_archive = rule(
    implementation = _static_archive_impl,
    attrs = {
        "archive": attr.output(mandatory = True),
        "archiver": attr.label(allow_single_file = True, cfg = "host", executable = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "without": attr.label_list(providers = [CcInfo]),
    },
)

def static_archive(name, deps, without = [], **kwargs):
    """An archive with the objects of libraries and of all that they need.

    Args:
      name: the file.
      deps: libraries.
      without: libraries of other archives, whose objects are left out.
      **kwargs: archiver, where objects are not Linux's; tags.
    """
    _static_archive(
        name = name + "_rule",
        archive = name,
        deps = deps,
        without = without,
        **kwargs
    )

def _public_headers_impl(ctx):
    found = {}
    for dep in ctx.attr.deps:
        for file in dep[CcInfo].compilation_context.headers.to_list():
            # Those of other repositories lie outside of the workspace's folder.
            if not file.short_path.startswith("../") and file.extension in ("h", "inc"):
                found[file] = True
    return [DefaultInfo(
        files = depset(found.keys()),
        runfiles = ctx.runfiles(found.keys()),
    )]

# All headers that libraries and what they need have.
public_headers = rule(
    implementation = _public_headers_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
