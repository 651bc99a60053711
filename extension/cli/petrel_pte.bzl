# SPDX-License-Identifier: Apache-2.0
"""Programs as build products."""

def petrel_pte(name, model = None, methods = {}, backend = "xnnpack", external_weights = False, visibility = None):
    """Exports an archive: NAME.pte and, if asked, NAME.ptd.

    The action is hermetic and its result the same byte for byte, so it runs on
    any machine and is found in any cache.

    Args:
      name: the target, and the stem of the files.
      model: label of the .pt2 of method forward.
      methods: labels of .pt2 by the names of other methods.
      backend: xnnpack or none.
      external_weights: whether weights go to NAME.ptd.
      visibility: of the target.
    """
    outs = [name + ".pte"] + ([name + ".ptd"] if external_weights else [])
    flag = " --external-weights $(RULEDIR)/%s.ptd" % name if external_weights else ""
    native.genrule(
        name = name,
        srcs = ([model] if model else []) + methods.values(),
        outs = outs,
        cmd = "$(execpath //extension/cli:petrel) export " +
              ("$(execpath %s) " % model if model else "") +
              "".join(["--method %s=$(execpath %s) " % (m, methods[m]) for m in methods]) +
              "-o $(RULEDIR)/%s.pte --backend %s%s" % (name, backend, flag),
        message = "Exporting",
        tools = ["//extension/cli:petrel"],
        visibility = visibility,
    )
