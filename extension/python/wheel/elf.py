# SPDX-License-Identifier: Apache-2.0
"""The shared libraries that a shared library asks for."""

import pathlib
import struct
from typing import List

_DYNAMIC = 6  # type of a section
_NEEDED = 1  # tag of an entry


def needed(path: pathlib.Path) -> List[str]:
    """Names of libraries, such as "libm.so.6", from a 64-bit ELF file."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        raise ValueError(f"{path} is no 64-bit little-endian ELF file")
    section_table, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [
        struct.unpack_from("<IIQQQQII", data, section_table + i * size) for i in range(count)
    ]
    names: List[str] = []
    for _, kind, _, _, offset, length, link, _ in sections:
        if kind != _DYNAMIC:
            continue
        text = sections[link][4]
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<QQ", data, at)
            if tag == _NEEDED:
                end = data.index(b"\0", text + value)
                names.append(data[text + value:end].decode())
    return names
