# SPDX-License-Identifier: Apache-2.0
"""Programs as build products."""

def _quoted(word):
    """A word of the shell; '$' is doubled because genrule reads it first."""
    return "'" + word.replace("'", "'\\''").replace("$", "$$") + "'"

def petrel_pte(
        name,
        model = None,
        methods = {},
        backend = "xnnpack",
        external_weights = False,
        external = {},
        data = [],
        weight_keys = None,
        allow_missing_kernels = False,
        options = [],
        petrel = None,
        testonly = False,
        visibility = None):
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
      model: label of the .pt2 of method forward.
      methods: labels of .pt2 by the names of other methods.
      backend: xnnpack or none, METHOD=NAME for one method; a list of these in
        order of priority.
      external_weights: whether weights go to NAME.ptd, but for those of external.
      external: names of .ptd files by pattern of weight names; the first that
        matches counts. Each file is an output of the rule.
      data: further .ptd files that are written, such as those that a backend
        names: outputs of the rule.
      weight_keys: content or name.
      allow_missing_kernels: whether the program may call kernels that the
        exporting command does not have.
      options: further words of `petrel export`, such as "--reorder".
      petrel: label of a command with other backends (petrel_cli).
      testonly: of the target.
      visibility: of the target.
    """
    petrel = petrel or str(Label("//extension/cli:petrel"))
    files = ([name + ".ptd"] if external_weights else [])
    for file in external.values() + data:
        if "/" in file or not file.endswith(".ptd"):
            fail("petrel_pte %s: data file is %r, must be a plain name that ends in .ptd" %
                 (name, file))
        if file not in files:
            files.append(file)
    words = ["$(execpath %s)" % petrel, "export"]
    if model:
        words.append("$(execpath %s)" % model)
    for method, label in methods.items():
        words += ["--method", _quoted(method) + "=$(execpath %s)" % label]
    words += ["-o", "$(RULEDIR)/%s.pte" % name]
    for choice in ([backend] if type(backend) == type("") else backend):
        words += ["--backend", _quoted(choice)]
    if external_weights:
        words += ["--external-weights", "$(RULEDIR)/%s.ptd" % name]
    for glob, file in external.items():
        words += ["--external", _quoted(glob + "=") + "$(RULEDIR)/" + file]
    if weight_keys:
        words += ["--weight-keys", weight_keys]
    if allow_missing_kernels:
        words.append("--allow-missing-kernels")
    native.genrule(
        name = name,
        srcs = ([model] if model else []) + methods.values(),
        outs = [name + ".pte"] + files,
        cmd = " ".join(words + [_quoted(option) for option in options]),
        message = "Exporting",
        testonly = testonly,
        tools = [petrel],
        visibility = visibility,
    )
