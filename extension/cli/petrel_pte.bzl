# SPDX-License-Identifier: Apache-2.0
"""Programs as build products."""

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
        words += [option, quoted(str(each))]
    return words

def petrel_pte(
        name,
        model = None,
        methods = {},
        backend = "xnnpack",
        external_weights = False,
        external = {},
        data = [],
        options = [],
        petrel = None,
        testonly = False,
        visibility = None,
        **export_options):
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
      options: further words of `petrel export`.
      petrel: label of a command with other backends (petrel_cli).
      testonly: of the target.
      visibility: of the target.
      **export_options: every option of `petrel export`, with _ for -, such as
        reorder = True, weight_keys = "name" or a list for one that may be
        repeated. The command refuses what it does not know.
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
        words += ["--method", quoted(method) + "=$(execpath %s)" % label]
    words += ["-o", "$(RULEDIR)/%s.pte" % name]
    for choice in ([backend] if type(backend) == type("") else backend):
        words += ["--backend", quoted(choice)]
    if external_weights:
        words += ["--external-weights", "$(RULEDIR)/%s.ptd" % name]
    for glob, file in external.items():
        words += ["--external", quoted(glob + "=") + "$(RULEDIR)/" + file]
    for option, value in export_options.items():
        words += words_of(option, value)
    native.genrule(
        name = name,
        srcs = ([model] if model else []) + methods.values(),
        outs = [name + ".pte"] + files,
        cmd = " ".join(words + [quoted(option) for option in options]),
        message = "Exporting",
        testonly = testonly,
        tools = [petrel],
        visibility = visibility,
    )
