# SPDX-License-Identifier: Apache-2.0
"""Fuzz targets: one function, several programs.

    fuzz_target(
        name = "program",
        srcs = ["program_fuzzer.cc"],      # defines LLVMFuzzerTestOneInput
        seeds = ["//test/faults:golden"],
        deps = [...],
    )

    program_fuzzer     with libFuzzer, under --config=fuzz only
    program_many       with a main() that calls it more often, under --config=fuzz only
    program_fuzz_test  the same function on every seed and find, in every build
    program_corpus     a folder: seeds, and the finds of corpus/program

A find is a file in corpus/NAME, and so a regression test of `./bazelw test //...`.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")

def _corpus_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    copies = ["cp -L '%s' '%s/%s'" % (
        file.path,
        folder.path,
        file.short_path.replace("../", "").replace("/", "_"),
    ) for file in ctx.files.files if not file.is_directory]
    copies += [
        "cp -rL '%s'/. '%s'" % (file.path, folder.path)
        for file in ctx.files.files
        if file.is_directory
    ]
    ctx.actions.run_shell(
        inputs = ctx.files.files,
        outputs = [folder],
        command = " && ".join(["mkdir -p '%s'" % folder.path] + copies),
        mnemonic = "Corpus",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

_corpus = rule(
    implementation = _corpus_impl,
    attrs = {"files": attr.label_list(allow_files = True)},
)

def _seeds_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run(
        inputs = ctx.files.srcs,
        outputs = [folder],
        executable = ctx.executable.tool,
        arguments = [folder.path] + [file.path for file in ctx.files.srcs],
        # The sandbox hides what the search for leaks needs.
        env = {"ASAN_OPTIONS": "detect_leaks=0"},
        mnemonic = "Seeds",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

# A folder of seeds that a program writes: `tool FOLDER SRCS...`.
fuzz_seeds = rule(
    implementation = _seeds_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "tool": attr.label(executable = True, cfg = "host", mandatory = True),
    },
)

def fuzz_target(name, srcs, deps, seeds = [], data = [], size = "small", tags = []):
    """A fuzz target and the test that replays what it starts from and has found.

    Args:
      name: of the target; the rules add to it.
      srcs: sources, one of which defines LLVMFuzzerTestOneInput.
      deps: libraries.
      seeds: labels of files to start from.
      data: labels of files that the function opens.
      size: of the test.
      tags: of the test.
    """
    corpus = name + "_corpus"
    _corpus(
        name = corpus,
        testonly = True,
        files = native.glob(["corpus/%s/*" % name]) + seeds,
    )
    cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = srcs,
        data = data + [":" + corpus],
        linkopts = ["-fsanitize=fuzzer"],
        # gcc has no such library.
        tags = ["manual"],
        deps = deps,
    )
    cc_binary(
        name = name + "_many",
        testonly = True,
        srcs = srcs,
        data = data + [":" + corpus],
        tags = ["manual"],
        deps = deps + ["//test/fuzz:many"],
    )
    cc_test(
        name = name + "_fuzz_test",
        size = size,
        srcs = srcs,
        args = ["$(rootpath :%s)" % corpus],
        data = data + [":" + corpus],
        tags = tags,
        deps = deps + ["//test/fuzz:replay"],
    )
