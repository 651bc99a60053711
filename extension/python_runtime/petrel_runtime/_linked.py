# SPDX-License-Identifier: Apache-2.0
"""What is linked into libpetrel.so: names of backends and kernels."""

import ctypes
from typing import List

from petrel_runtime._library import call, to_text


def _names(count: str, name_at: str) -> List[str]:
    size, name = ctypes.c_size_t(), ctypes.c_char_p()
    call(count, ctypes.byref(size))
    names = []
    for index in range(size.value):
        call(name_at, index, ctypes.byref(name))
        names.append(to_text(name.value or b""))
    return names


def backend_names() -> List[str]:
    return _names("petrel_num_backends", "petrel_backend_name")


def operator_names() -> List[str]:
    return sorted(set(_names("petrel_num_kernels", "petrel_kernel_name")))
