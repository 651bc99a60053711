# SPDX-License-Identifier: Apache-2.0
"""Paths on their way to C++."""

import os
from typing import Any


def path_text(path: Any) -> str:
    """A path as text. C ends one at a zero, so that another file would be opened."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError(f"embedded null byte in path {text!r}")
    return text
