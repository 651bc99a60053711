# SPDX-License-Identifier: Apache-2.0
"""The C interface as lines that can be compared with those of earlier versions.

    declarations(text of petrel.h)
        "function petrel_status petrel_module_run(petrel_module*module, const char*method)"
        "number PETREL_OK = 0x00"
        "member petrel_value 0 size_t struct_size"
        "type typedef int32_t petrel_status"

A member has its place in its struct: a struct may grow at its end and nowhere else.
"""

import re
from typing import List

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
CONSTANT = re.compile(r"^#define (PETREL_\w+) (.+)$", re.M)
DIRECTIVE = re.compile(r"^#(?:.*\\\n)*.*$", re.M)
BODY = re.compile(r"^static inline ([^{]*)\{.*?^\}", re.S | re.M)
BLOCK = re.compile(r"(?:typedef )?(enum|struct) ?(\w*) ?\{(.*?)\} ?(\w*) ?;", re.S)
# What says how something is declared and not what; and the version itself.
NOT_COMPARED = ("PETREL_EXPORT", "PETREL_API_VERSION", "PETREL_VALUE_INIT")


def _squeezed(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r" ?([(),*\[\]]) ?", r"\1", text).replace(",", ", ")


def _of_block(kind: str, name: str, body: str) -> List[str]:
    if kind == "enum":
        return [f"number {_squeezed(one)}" for one in body.split(",") if one.strip()]
    members = [_squeezed(one) for one in body.split(";") if one.strip()]
    return [f"member {name} {place} {member}" for place, member in enumerate(members)]


def declarations(header: str) -> List[str]:
    """In the order of the header."""
    text = COMMENT.sub(" ", header)
    found = [f"number {name} = {_squeezed(value)}" for name, value in CONSTANT.findall(text)
             if name not in NOT_COMPARED]
    text = BODY.sub(r"\1;", DIRECTIVE.sub("", text).replace('extern "C" {', ""))
    for kind, name, body, alias in BLOCK.findall(text):
        found += _of_block(kind, name or alias, body)
    for statement in BLOCK.sub("", text).split(";"):
        line = _squeezed(statement.replace("PETREL_EXPORT", ""))
        if line.strip("} "):
            found.append(("type " if line.startswith("typedef") else "function ") + line)
    return found
