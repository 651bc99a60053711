# SPDX-License-Identifier: Apache-2.0
"""Options of the build that are one of a few words: --//runtime:messages=none (docs/run.md)."""

def _choice_impl(ctx):
    if ctx.build_setting_value not in ctx.attr.values:
        fail("--//%s:%s is \"%s\", must be one of %s" % (
            ctx.label.package,
            ctx.label.name,
            ctx.build_setting_value,
            ", ".join(ctx.attr.values),
        ))
    return []

choice = rule(
    doc = "An option --//PACKAGE:NAME=WORD, for config_setting(flag_values = ...).",
    implementation = _choice_impl,
    attrs = {
        "values": attr.string_list(doc = "The words there are.", mandatory = True),
    },
    build_setting = config.string(flag = True),
)
