# SPDX-License-Identifier: Apache-2.0
"""The option --//runtime:messages=full|none (docs/run.md)."""

_VALUES = ["full", "none"]

def _messages_impl(ctx):
    if ctx.build_setting_value not in _VALUES:
        fail("--//runtime:messages is \"%s\", must be one of %s" %
             (ctx.build_setting_value, ", ".join(_VALUES)))
    return []

messages = rule(
    doc = "Whether errors of the runtime are explained by texts, or have their codes alone.",
    implementation = _messages_impl,
    build_setting = config.string(flag = True),
)
