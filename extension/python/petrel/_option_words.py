# SPDX-License-Identifier: Apache-2.0
"""Keywords that are options of the command, as the words of these options.

    option_words("weight_keys", "name")     ["name"]
    option_words("reorder", True)           []        a flag, or a value that is missing
    option_words("reorder", False)          None      as if it were not given

C++ knows which words an option takes, and refuses others by name.
"""

import numbers
import os
from typing import Any, List, Optional

from petrel._path import c_text


def option_words(name: str, value: Any) -> Optional[List[Any]]:
    """The words of an option; None when it is not given."""
    if value is None or value is False:
        return None
    if value is True:
        return []
    if _is_word(value):
        return [_word(value)]
    if isinstance(value, (list, tuple)) and all(map(_is_word, value)):
        return [_word(word) for word in value] or None
    raise TypeError(f"{name} is {value!r}, must be a text, a number or a list of these")


def _is_word(value: Any) -> bool:
    return (isinstance(value, (str, os.PathLike, numbers.Integral)) and
            not isinstance(value, bool))


def _word(value: Any) -> Any:
    return c_text(str(value) if isinstance(value, numbers.Integral) else os.fsdecode(value))
