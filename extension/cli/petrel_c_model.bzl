# SPDX-License-Identifier: Apache-2.0
"""Models as C libraries that need no other."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load(":petrel_pte.bzl", "quoted", "words_of")

def _key(pool, key):
    """The value of a key of --pool; the short form NAME=BYTES has none."""
    for part in pool.split(","):
        if part.startswith(key + "="):
            return part[len(key) + 1:]
    return ""

def _is_memory(pool):
    """Whether generated C writes there."""
    targets = pool.partition("targets=")[2].split(",")
    return _key(pool, "kind") != "ro" and ("targets=" not in pool or "c" in targets)

def _list(value):
    return value if type(value) == type([]) else [value]

def _in(folder, files):
    return [folder + "/" + file for file in files]

# What --device-rpc adds to every package.
_RPC_SOURCES = [
    "petrel_frame.c",
    "petrel_rpc.c",
    "petrel_rpc_info.c",
    "petrel_rpc_memory.c",
    "petrel_rpc_run.c",
]
_RPC_HEADERS = [
    "petrel_board.h",
    "petrel_frame.h",
    "petrel_plan.h",
    "petrel_rpc.h",
    "petrel_rpc_parts.h",
    "petrel_rpc_protocol.h",
]

def _kernel_file(name, label):
    return name + "_kernel_" + label.rpartition(":")[2].rpartition("/")[2]

def _files(name, constants, pools, options):
    """Names of the files that the command writes: sources, headers, and others."""
    is_binary = constants == "incbin"
    sources = [name + ".c", name + ("_params.S" if is_binary else "_params.c"), name + "_metadata.c"]
    if [pool for pool in pools if _is_memory(pool)] or options.has_board:
        sources.append(name + "_memory.c")
    headers = [name + ".h", name + "_params.h", "petrel_model.h", "petrel_model_view.h"]
    if options.has_group:
        headers.append(name + "_group.h")
    if options.has_backends:
        headers.append("petrel_delegate.h")
    if options.has_kernels:
        headers.append(name + "_kernels.h")
    if options.has_rpc:
        sources += [name + "_plan.c"] + _RPC_SOURCES
        headers += [name + "_plan.h"] + _RPC_HEADERS
    others = [name + "_selftest.c", name + ".mk", name + ".cmake", "manifest.json"]
    if is_binary or options.has_external:
        others.append(name + "_params.bin")
    if [pool for pool in pools if _key(pool, "address")] or options.has_board:
        others.append(name + ".ld")
    return sources, headers, others

# Options whose values are labels of files.
_FILE_OPTIONS = ["quantize", "tuning"]

def _given_files(options):
    """Labels by option; of boards those that are not shipped."""
    files = {option: options[option] for option in _FILE_OPTIONS if options.get(option)}
    if options.get("board", "").endswith(".json"):
        files["board"] = options["board"]
    return files

def _command(name, petrel, model, methods, group, kernel_source, files, package):
    words = ["$(execpath %s)" % petrel, "gen-c"]
    if model:
        words.append("$(execpath %s)" % model)
    for method, label in methods.items():
        words += ["--method", quoted(method) + "=$(execpath %s)" % label]
    words += ["-o", "$(RULEDIR)/%s_c" % name, "--name", name]
    for label in group:
        words += ["--group", "$(execpath %s)" % label]
    for label, symbols in kernel_source.items():
        for symbol in _list(symbols):
            words += ["--kernel-source", "$(execpath %s):%s" % (label, symbol)]
    for option, label in files.items():
        words += ["--" + option, "$(execpath %s)" % label]
    if package:
        words += ["--package", "$(RULEDIR)/" + package]
    return words

def _words_of_all(options):
    words = []
    for option, value in options.items():
        words += [quoted(word) for word in words_of(option, value)]
    return words

def _libraries(name, sources, headers, others, kernels, has_test, testonly, visibility):
    folder = name + "_c"
    copts = ["-std=c99", "-ffp-contract=off", "-fno-trapping-math"]
    if kernels.files:
        cc_library(
            name = name + "_user_kernels",
            # With the header that declares them.
            srcs = _in(folder, kernels.files + [name + "_kernels.h"]),
            copts = copts + kernels.copts,
            testonly = testonly,
            deps = kernels.deps,
        )
    cc_library(
        name = name,
        srcs = _in(folder, sources),
        hdrs = _in(folder, headers),
        # GNU as looks for the bytes where -I says.
        copts = copts + ["-I$(GENDIR)/%s/%s" % (native.package_name(), folder)],
        includes = [folder],
        linkopts = ["-lm"],
        testonly = testonly,
        textual_hdrs = _in(folder, [file for file in others if file.endswith(".bin")]),
        visibility = visibility,
        deps = [name + "_user_kernels"] if kernels.files else [],
    )
    if has_test:
        cc_test(
            name = name + "_selftest",
            size = "small",
            srcs = _in(folder, [name + "_selftest.c"]),
            copts = copts,
            local_defines = [name.upper() + "_SELFTEST_MAIN"],
            deps = [name],
        )

def _check(name, constants, gen_c_options):
    if "kernel_flag" in gen_c_options:
        fail("petrel_c_model %s: kernel_flag is kernel_copts in Bazel" % name)
    if constants not in ("text", "incbin") or "compile" in gen_c_options or "name" in gen_c_options:
        fail("petrel_c_model %s: constants is %r, must be text or incbin; compile is Bazel's work" %
             (name, constants))

# What the command leaves out where no address is used, for it to be there all the same.
_WITHOUT_ADDRESSES = "SECTIONS { } INSERT AFTER .bss;"

def _with_linker_script(cmd, name, others):
    if name + ".ld" not in others:
        return cmd
    script = "$(RULEDIR)/%s_c/%s.ld" % (name, name)
    return "%s && { [ -e %s ] || echo '%s' >%s; }" % (cmd, script, _WITHOUT_ADDRESSES, script)

def _user_kernels(name, kernel_source, copts, deps):
    files = [_kernel_file(name, label) for label in kernel_source]
    return struct(copts = copts, deps = deps, files = files)

def petrel_c_model(
        name,
        model = None,
        methods = {},
        constants = "text",
        pool = [],
        link_param = [],
        params = "linked",
        group = [],
        kernel_source = {},
        kernel_copts = [],
        kernel_deps = [],
        package = None,
        petrel = None,
        testonly = False,
        visibility = None,
        **gen_c_options):
    """Writes an archive as C99 and compiles it: a cc_library NAME with the header NAME.h.

    The action is hermetic and its result the same byte for byte. NAME_selftest is a test that the
    model computes here what it must, unless the application sets parameters or devices. The files lie in the
    folder NAME_c, the targets of them are called so, too: NAME_c/manifest.json, NAME_c/NAME.ld.

        petrel_c_model(
            name = "kws",
            model = ":kws.pt2",
            pool = ["name=tcm,limit=16K,section=.bss.tcm", "sram=256K"],
        )

    Args:
      name: the library; begins the names of files and symbols.
      model, methods: label of the .pt2 of method forward, and labels by the names of other methods.
      constants: text or incbin; which files there are must be known, so there is no auto.
      pool: as the option of `petrel gen-c`, as all that follow are.
      link_param, params: see there.
      group: labels of manifest.json of other packages.
      kernel_source: labels of files of your own with the names of functions in them, which kernel
        names as variants: {"my.c": "my_relu"}, or a list of names.
      kernel_copts, kernel_deps: flags of the compiler for these files, and libraries of their headers.
      package: NAME.zip, a file beside the library.
      petrel: label of another command (petrel_cli).
      testonly, visibility: of the targets.
      **gen_c_options: every other option of `petrel gen-c`, with _ for -, such as reorder = True or
        pin = ["image=sram"]. The command refuses what it does not know. Labels are what quantize and
        tuning name, and board where it is a file.
    """
    _check(name, constants, gen_c_options)
    petrel = petrel or str(Label("//extension/cli:petrel"))
    pools = _list(pool)
    has_external = "external" in [params] + [rule.rpartition("=")[2] for rule in _list(link_param)]
    has_backends = bool([one for one in _list(gen_c_options.get("backend", [])) if one != "none"])
    sources, headers, others = _files(name, constants, pools, struct(
        has_backends = has_backends,
        has_board = bool(gen_c_options.get("board")),
        has_external = has_external,
        has_group = bool(group),
        has_kernels = bool(kernel_source),
        has_rpc = bool(gen_c_options.get("device_rpc")),
    ))
    kernels = _user_kernels(name, kernel_source, kernel_copts, kernel_deps)
    files = _given_files(gen_c_options)
    words = _command(name, petrel, model, methods, group, kernel_source, files, package)
    words += _words_of_all(dict(
        {key: value for key, value in gen_c_options.items() if key not in files},
        constants = constants,
        pool = pools,
        link_param = _list(link_param),
        params = params,
    ))
    native.genrule(
        name = name + "_c",
        srcs = ([model] if model else []) + methods.values() + group + kernel_source.keys() + files.values(),
        outs = _in(name + "_c", sources + headers + others + kernels.files) + ([package] if package else []),
        cmd = _with_linker_script(" ".join(words), name, others),
        message = "Generating",
        testonly = testonly,
        tools = [petrel],
        visibility = visibility,
    )
    _libraries(name, sources, headers, others, kernels, not has_external and not has_backends, testonly, visibility)
