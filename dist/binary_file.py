# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of Windows and macOS, as far as the SDK must know them.

    binary_file.is_windows(data)            whether it is one of Windows
    binary_file.windows_processor(data)     "x86_64"
    binary_file.windows_exports(data)       ["petrel_api_version", ...]
    binary_file.macos_processor(data)       "arm64"
    binary_file.macos_exports(data)         as of Windows

readelf and the like of Debian read files of Linux alone.
"""

import struct
from typing import List, Tuple

_WINDOWS = {0x8664: "x86_64", 0xaa64: "arm64"}
_MACOS = {0x01000007: "x86_64", 0x0100000c: "arm64"}
_MACOS_MAGIC = 0xfeedfacf


def is_windows(data: bytes) -> bool:
    return data[:2] == b"MZ"


def is_macos(data: bytes) -> bool:
    return data[:4] == struct.pack("<I", _MACOS_MAGIC)


def windows_processor(data: bytes) -> str:
    header, = struct.unpack_from("<I", data, 0x3c)
    kind, = struct.unpack_from("<H", data, header + 4)
    return _WINDOWS[kind]


def macos_processor(data: bytes) -> str:
    return _MACOS[struct.unpack_from("<I", data, 4)[0]]


def _windows_sections(data: bytes) -> List[Tuple[int, int, int]]:
    """Address, size and place in the file of each."""
    header, = struct.unpack_from("<I", data, 0x3c)
    count, = struct.unpack_from("<H", data, header + 6)
    optional, = struct.unpack_from("<H", data, header + 20)
    first = header + 24 + optional
    found = []
    for at in range(first, first + 40 * count, 40):
        _, address, size, place = struct.unpack_from("<IIII", data, at + 8)
        found.append((address, size, place))
    return found


def windows_exports(data: bytes) -> List[str]:
    """The names that a DLL shows."""
    header, = struct.unpack_from("<I", data, 0x3c)
    sections = _windows_sections(data)

    def place(address: int) -> int:
        for begin, size, start in sections:
            if begin <= address < begin + size:
                return start + address - begin
        raise ValueError(f"address {address:#x} is in no section")

    # Behind 112 bytes of an optional header for 64 bits.
    table, = struct.unpack_from("<I", data, header + 24 + 112)
    if table == 0:
        return []
    count, = struct.unpack_from("<I", data, place(table) + 24)
    names, = struct.unpack_from("<I", data, place(table) + 32)
    found = []
    for address in struct.unpack_from(f"<{count}I", data, place(names)):
        begin = place(address)
        found.append(data[begin:data.index(b"\0", begin)].decode())
    return found


def _number(data: bytes, at: int) -> Tuple[int, int]:
    """One that takes seven bits of each byte, and what is behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _names_below(tree: bytes, at: int, name: bytes) -> List[str]:
    """Names are paths through a tree of parts of names."""
    size, at = _number(tree, at)
    found = [name.decode()] if size else []
    at += size
    children, at = tree[at], at + 1
    for _ in range(children):
        end = tree.index(b"\0", at)
        child, after = _number(tree, end + 1)
        found += _names_below(tree, child, name + tree[at:end])
        at = after
    return found


def macos_exports(data: bytes) -> List[str]:
    """The names that a library for macOS shows, without their first underscore."""
    count, = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        # LC_DYLD_INFO_ONLY and LC_DYLD_EXPORTS_TRIE
        place = {0x80000022: at + 40, 0x80000033: at + 8}.get(kind)
        if place is not None:
            first, length = struct.unpack_from("<II", data, place)
            return [name[1:] for name in _names_below(data[first:first + length], 0, b"")]
        at += size
    return []
