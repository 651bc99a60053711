# SPDX-License-Identifier: Apache-2.0
"""Arguments of load() on their way to C++ or C, which would not say which one is wrong.

    whole_number("num_threads", "4")    TypeError: num_threads is '4', must be a whole number
"""

import operator
import os
import reprlib
from typing import Any, Dict, Mapping, Optional, Union

# By package: petrel_runtime has this file, too.
from ._error import Error

LIMITS = ("max_arena_bytes", "max_delegate_bytes", "max_input_bytes", "max_instructions",
          "max_element_operations")
# What a limit of bytes is where none is given.
DEFAULT_BYTES = 2**34

OptionValue = Union[bool, int, str]


def whole_number(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, must be a whole number") from None


def number_of_32_bits(name: str, value: Any) -> int:
    number = whole_number(name, value)
    if not -2**31 <= number < 2**31:
        raise Error(f"{name} is {reprlib.repr(number)}, which needs more than 32 bits",
                    "InvalidArgument")
    return number


def thread_count(value: Any) -> Optional[int]:
    return None if value is None else number_of_32_bits("num_threads", value)


def limits_of(values: Mapping[str, Any]) -> Dict[str, int]:
    """Those that are given."""
    given = {name: whole_number(name, values[name])
             for name in LIMITS if values[name] is not None}
    for name, number in given.items():
        if not 0 <= number < 2**64:
            raise Error(f"{name} is {reprlib.repr(number)}, must be in [0, 2^64)",
                        "InvalidArgument")
    return given


def words(**values: Any) -> None:
    """A TypeError for the first that is no text."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} is {reprlib.repr(value)}, must be a text")


def backend_options_of(given: Any) -> Dict[str, Dict[str, OptionValue]]:
    """The options of each backend, paths as texts."""
    options = {} if given is None else given
    if not isinstance(options, Mapping):
        raise TypeError(f"backend_options is {reprlib.repr(options)}, must be a dict of backends "
                        "with a dict of options each")
    return {backend: _options_of(backend, pairs) for backend, pairs in options.items()}


def _options_of(backend: Any, pairs: Any) -> Dict[str, OptionValue]:
    name = f"backend_options[{reprlib.repr(backend)}]"
    if not isinstance(backend, str) or not isinstance(pairs, Mapping):
        raise TypeError(f"{name} is {reprlib.repr(pairs)}, must be a dict of options for the name "
                        "of a backend")
    return {key: _option(f"{name}[{reprlib.repr(key)}]", key, value)
            for key, value in pairs.items()}


def _option(name: str, key: Any, value: Any) -> OptionValue:
    if not isinstance(key, str):
        raise TypeError(f"{name}: the name of an option must be a text")
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    try:
        return number_of_32_bits(name, value)
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, must be a bool, a whole number or a "
                        "text") from None
