# SPDX-License-Identifier: Apache-2.0
"""Paths on their way to C++."""

import os
from typing import Any


def path_text(path: Any) -> str:
    """A path for C++. C ends one at a zero, so that another file would be opened."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError(f"embedded null byte in path {text!r}")
    return c_text(text)


def c_text(text: str) -> str:
    """Text as C++ takes it: as bytes where it stands for what is no UTF-8 (os.fsdecode())."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)  # type: ignore[return-value]
    return text
