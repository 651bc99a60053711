# SPDX-License-Identifier: Apache-2.0
"""The one exception that Petrel raises by itself."""

import re
from typing import Optional

# How a message names the node that it is about: "node 'conv' (aten.conv2d.default)
# at model.py:12, in forward", or "the first is 'conv' at ...".
_LINE = r"(?: at (?P<source>.+?:\d+(?:, in [\w<>]+)?|[^\s:]+))?"
_NODES = [
    re.compile(r"node '(?P<node>[^']*)' \([^)]*\)" + _LINE),
    re.compile(r"the first is '(?P<node>[^']*)'" + _LINE),
    # The first that uses an operator that is not known.
    re.compile(r"\(node '(?P<node>[^']*)'" + _LINE),
]


class Error(RuntimeError):
    """A file, a model or an argument that Petrel cannot take.

    str(error) says what is wrong with what. The rest is for programs:

    code    the kind of error, a word such as "InvalidProgram" or "NotFound"
    node    the node of the model that it names, None if it names none
    source  the line of the model that it names, "model.py:12, in forward"
    """

    def __init__(self, message: str, code: str = "Internal", node: Optional[str] = None,
                 source: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.node = node
        self.source = source


def from_message(code: str, message: str) -> Error:
    """The error of a message, with the node that it names."""
    for pattern in _NODES:
        found = pattern.search(message)
        if found is not None:
            return Error(message, code, found["node"] or None, found["source"])
    return Error(message, code)
