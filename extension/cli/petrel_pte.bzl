# SPDX-License-Identifier: Apache-2.0
"""Programs as build products, one or a fleet of them."""

def quoted(word):
    """A word of the shell; '$' is doubled because genrule reads it first."""
    return "'" + word.replace("'", "'\\''").replace("$", "$$") + "'"

def words_of(name, value):
    """An option of the command and its values, from an attribute."""
    option = "--" + name.replace("_", "-")
    if value == None or value == False:
        return []
    if value == True:
        return [option]
    words = []
    for each in (value if type(value) == type([]) else [value]):
        words += [option, str(each)]
    return words

_Exported = provider(
    "One export of a fleet.",
    fields = {"status": "the file of its status"},
)

def _words(ctx, folder):
    """What `petrel export` is told; files are written to `folder`."""
    words = ["export"]
    for method, label in ctx.attr.methods.items():
        path = ctx.expand_location("$(execpath %s)" % label, ctx.attr.archives)
        words += ["--method", method + "=" + path] if method else [path]
    words += ["-o", "%s/%s.pte" % (folder, ctx.attr.stem)]
    if ctx.attr.external_weights:
        words += ["--external-weights", "%s/%s.ptd" % (folder, ctx.attr.stem)]
    for glob, file in ctx.attr.external.items():
        words += ["--external", "%s=%s/%s" % (glob, folder, file)]
    return words + ctx.attr.words

def _environment(ctx):
    """Nothing of the machine; programs of another processor need the libraries of its emulator."""
    shell = ctx.configuration.default_shell_env
    return {key: shell[key] for key in ["QEMU_LD_PREFIX"] if key in shell}

def _command(ctx):
    """The path of the command, which is not looked for in $PATH."""
    path = ctx.executable.petrel.path
    return path if "/" in path else "./" + path

def _export(ctx, words, outputs, folder):
    """An action that runs the command; not every worker makes folders that are outputs."""
    ctx.actions.run_shell(
        arguments = [folder, _command(ctx)] + words,
        command = "mkdir -p \"$1\" && shift && exec \"$@\"",
        env = _environment(ctx),
        inputs = ctx.files.archives,
        mnemonic = "PetrelExport",
        outputs = outputs,
        progress_message = "Exporting %s" % ctx.label,
        tools = [ctx.executable.petrel],
    )

def _pte_impl(ctx):
    folder = ctx.outputs.outs[0].dirname
    _export(ctx, _words(ctx, folder), ctx.outputs.outs, folder)
    return [DefaultInfo(
        files = depset(ctx.outputs.outs),
        runfiles = ctx.runfiles(ctx.outputs.outs),
    )]

def _kept_pte_impl(ctx):
    # Shards have names that nobody knows before, and a model that fails writes nothing.
    folder = ctx.actions.declare_directory(ctx.label.name + ".exported")
    status = ctx.actions.declare_file(ctx.label.name + ".status.json")
    words = _words(ctx, folder.path) + ["--status", status.path]
    _export(ctx, words, [folder, status], folder.path)
    return [
        DefaultInfo(files = depset([folder, status]), runfiles = ctx.runfiles([folder, status])),
        _Exported(status = status),
    ]

_ATTRIBUTES = {
    "archives": attr.label_list(allow_files = True),
    "external": attr.string_dict(),
    "external_weights": attr.bool(),
    "methods": attr.string_dict(doc = "labels of archives by names of methods"),
    "petrel": attr.label(allow_single_file = True, cfg = "host", executable = True, mandatory = True),
    "stem": attr.string(mandatory = True),
    "words": attr.string_list(),
}

_pte = rule(
    implementation = _pte_impl,
    attrs = dict(_ATTRIBUTES, outs = attr.output_list(mandatory = True)),
)

_kept_pte = rule(
    implementation = _kept_pte_impl,
    attrs = _ATTRIBUTES,
)

def _fleet_impl(ctx):
    list = ctx.actions.declare_file(ctx.label.name + ".fleet.json")
    statuses = {
        export.label.name[len(ctx.label.name) + 1:]: export[_Exported].status
        for export in ctx.attr.exports
    }
    ctx.actions.write(list, json.encode({
        "fleet": str(ctx.label),
        "models": {
            name: status.short_path[len(ctx.label.package):].lstrip("/")
            for name, status in statuses.items()
        },
    }))
    files = depset([list], transitive = [export[DefaultInfo].files for export in ctx.attr.exports])
    return [
        DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files)),
        OutputGroupInfo(statuses = depset([list] + statuses.values())),
    ]

_fleet = rule(
    implementation = _fleet_impl,
    attrs = {"exports": attr.label_list(providers = [_Exported])},
)

def _data_files(name, external, data):
    """The names of the .ptd files that options name."""
    files = []
    for file in external.values() + data:
        if "/" in file or not file.endswith(".ptd"):
            fail("petrel_pte %s: data file is %r, must be a plain name that ends in .ptd" %
                 (name, file))
        if file not in files:
            files.append(file)
    return files

def _attributes(
        model = None,
        methods = {},
        backend = "xnnpack",
        external_weights = False,
        external = {},
        options = [],
        petrel = None,
        **export_options):
    """Attributes of the rules, from those of petrel_pte."""
    words = []
    for option, value in dict(backend = backend, **export_options).items():
        words += words_of(option, value)
    labels = dict({"": model} if model else {}, **methods)
    archives = {label: True for label in labels.values()}
    return dict(
        archives = archives.keys(),
        external = external,
        external_weights = external_weights,
        methods = labels,
        petrel = petrel or str(Label("//extension/cli:petrel")),
        words = words + options,
    )

def petrel_pte(
        name,
        external = {},
        external_weights = False,
        data = [],
        testonly = False,
        visibility = None,
        **export):
    """Exports an archive: NAME.pte and its data files.

    The action is hermetic and its result the same byte for byte, so it runs on
    any machine and is found in any cache.

        petrel_pte(
            name = "llm",
            methods = {"prefill": ":prefill.pt2", "decode": ":decode.pt2"},
            external = {"*lora*": "adapter.ptd", "*": "base.ptd"},
        )

    Args:
      name: the target, and the stem of the files.
      external: names of .ptd files by pattern of weight names; the first that
        matches counts. Each file is an output of the rule.
      external_weights: whether weights go to NAME.ptd, but for those of external.
      data: further .ptd files that are written, such as those that a backend
        names: outputs of the rule.
      testonly: of the target.
      visibility: of the target.
      **export: what is exported, and how.
        model: label of the .pt2 of method forward.
        methods: labels of .pt2 by the names of other methods.
        backend: xnnpack or none, METHOD=NAME for one method; a list of these in
          order of priority.
        options: further words of `petrel export`.
        petrel: label of a command with other backends (petrel_cli).
        Every option of `petrel export`, with _ for -, such as reorder = True,
        weight_keys = "name" or a list for one that may be repeated. The command
        refuses what it does not know.
    """
    files = [name + ".ptd"] if external_weights else []
    files += [file for file in _data_files(name, external, data) if file not in files]
    _pte(
        name = name,
        outs = [name + ".pte"] + files,
        stem = name,
        testonly = testonly,
        visibility = visibility,
        **_attributes(external = external, external_weights = external_weights, **export)
    )

def _name_of(label):
    """The name of a model: the path of its archive below the package, without .pt2."""
    path = label.split(":")[-1]
    return path[:-len(".pt2")] if path.endswith(".pt2") else path

def petrel_pte_fleet(
        name,
        models,
        special = {},
        exec_properties = {},
        testonly = False,
        visibility = None,
        **export):
    """Exports many archives; one that fails stops no other.

        petrel_pte_fleet(
            name = "zoo",
            models = glob(["models/**/*.pt2"]),
            special = {"models/llm": dict(external_weights = True, shard_size = "2GB")},
            weight_keys = "name",
        )

    The archive models/a.pt2 is the target zoo/models/a. It makes the folder
    zoo/models/a.exported with a.pte and its data files, empty where the export failed, and
    zoo/models/a.status.json, which says why. The target zoo is all of them, its output group
    `statuses` what `bazel run @petrel//extension/fleet:report -- bazel-bin/zoo.fleet.json` reads.

    Args:
      name: the target of all, and the folder of what is written.
      models: labels of archives; or what petrel_pte takes, as dicts by names of models, such as
        {"llm": dict(methods = {"prefill": ":p.pt2", "decode": ":d.pt2"})}.
      special: for some models, by name, what differs from the others.
      exec_properties: what the machine must be on which an export runs, for remote execution.
      testonly: of the targets.
      visibility: of the targets.
      **export: what petrel_pte takes, for all models.
    """
    if type(models) != type({}):
        labels = models
        models = {_name_of(label): dict(model = label) for label in labels}
        if len(models) != len(labels):
            fail("petrel_pte_fleet %s: two archives have one name, or the list names one twice" % name)
    unknown = [model for model in special if model not in models]
    if unknown:
        fail("petrel_pte_fleet %s: special names %r, which is no model" % (name, unknown[0]))
    for model, of_model in models.items():
        settings = dict(export)
        settings.update(of_model)
        settings.update(special.get(model, {}))
        settings.pop("data", None)  # the folder takes all files
        _data_files(name + "/" + model, settings.get("external", {}), [])
        _kept_pte(
            name = name + "/" + model,
            exec_properties = exec_properties,
            stem = model.split("/")[-1],
            testonly = testonly,
            visibility = visibility,
            **_attributes(**settings)
        )
    _fleet(
        name = name,
        exports = [name + "/" + model for model in models],
        testonly = testonly,
        visibility = visibility,
    )
