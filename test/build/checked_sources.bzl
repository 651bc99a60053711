# SPDX-License-Identifier: Apache-2.0
"""Aspects that read sources without linking them.

    headers   each header without a source of its own name compiles alone; the
              others are the first include of that source, which a test sees to
    tidy      clang-tidy finds nothing in a source

    bazel build --aspects=//test/build:checked_sources.bzl%headers \\
        --output_groups=checked //runtime/...

Each file is one action, so results are cached like objects. Tests are not read
by tidy: they use what they have moved from, to see that it is empty.
"""

_KINDS = ("cc_binary", "cc_library", "cc_test")

def _flags(ctx, target):
    context = target[CcInfo].compilation_context
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-warning-option"]
    flags += ["-D" + define for define in context.defines.to_list()]
    for option, folders in (
        ("-iquote", context.quote_includes),
        ("-I", context.includes),
        ("-isystem", context.system_includes),
    ):
        for folder in folders.to_list():
            flags += [option, folder]
    return flags + [
        option
        for option in ctx.rule.attr.copts
        if option[:2] in ("-D", "-f", "-m") or option.startswith("-std=") and "++" in option
    ]

def _sources(ctx, attributes, endings):
    return [
        file
        for attribute in attributes
        for target in getattr(ctx.rule.attr, attribute, [])
        for file in target.files.to_list()
        if file.is_source and file.extension in endings and not file.owner.workspace_name
    ]

def _check(ctx, target, file, command, inputs):
    stamp = ctx.actions.declare_file("%s.%s.checked" % (ctx.label.name, file.basename))
    context = target[CcInfo].compilation_context
    ctx.actions.run_shell(
        outputs = [stamp],
        inputs = depset([file] + inputs, transitive = [context.headers]),
        command = 'stamp=$1; file=$2; shift 2; %s && : >"$stamp"' % command,
        arguments = [stamp.path, file.path] + _flags(ctx, target),
        mnemonic = "CheckSource",
        progress_message = "Checking " + file.short_path,
        use_default_shell_env = True,
    )
    return stamp

def _is_ours(ctx):
    return ctx.rule.kind in _KINDS and not ctx.label.workspace_name and \
           not ctx.label.package.startswith("third_party")

def _headers_impl(target, ctx):
    stamps = []
    if _is_ours(ctx) and CcInfo in target:
        paths = [file.short_path for file in _sources(ctx, ["srcs"], ["cc"])]
        command = 'printf "#include \\"%s\\"\\n" "$file" | gcc -fsyntax-only -Werror -x c++ "$@" -'
        for file in _sources(ctx, ["hdrs"], ["h"]):
            if file.short_path[:-len("h")] + "cc" in paths or file.basename.endswith("-inl.h"):
                continue
            stamps.append(_check(ctx, target, file, command, []))
    return [OutputGroupInfo(checked = depset(stamps))]

headers = aspect(implementation = _headers_impl)

def _tidy_impl(target, ctx):
    stamps = []
    if _is_ours(ctx) and CcInfo in target and not ctx.rule.attr.testonly and \
       not ctx.rule.kind.endswith("_test"):
        command = 'clang-tidy-14 --quiet --config-file=.clang-tidy "$file"' + \
                  ' -- "$@" 2>"$stamp.log" || { cat "$stamp.log"; exit 1; }'
        for file in _sources(ctx, ["srcs"], ["cc"]):
            stamps.append(_check(ctx, target, file, command, ctx.files._settings))
    return [OutputGroupInfo(checked = depset(stamps))]

tidy = aspect(
    implementation = _tidy_impl,
    attrs = {"_settings": attr.label(default = "//:.clang-tidy", allow_single_file = True)},
)
