# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of Windows and macOS, as far as the SDK must know them.

    binary_file.is_windows(data)            whether it is one of Windows
    binary_file.windows_processor(data)     "x86_64"
    binary_file.windows_exports(data)       ["petrel_api_version", ...]
    binary_file.windows_imports(data)       ["KERNEL32.dll", ...]
    binary_file.macos_processor(data)       "arm64"
    binary_file.macos_version(data)         (11, 0), the oldest that it is for
    binary_file.macos_exports(data)         as of Windows
    binary_file.macos_imports(data)         ["/usr/lib/libSystem.B.dylib"]

readelf and the like of Debian read files of Linux alone.
"""

import struct
from typing import List, Tuple

import mach_o

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


def _windows_place(data: bytes, address: int) -> int:
    for begin, size, start in _windows_sections(data):
        if begin <= address < begin + size:
            return start + address - begin
    raise ValueError(f"address {address:#x} is in no section")


def _windows_text(data: bytes, address: int) -> str:
    begin = _windows_place(data, address)
    return data[begin:data.index(b"\0", begin)].decode()


def _windows_table(data: bytes, index: int) -> int:
    """The address of a table, 0 if there is none."""
    header, = struct.unpack_from("<I", data, 0x3c)
    # Behind 112 bytes of an optional header for 64 bits.
    return struct.unpack_from("<I", data, header + 24 + 112 + 8 * index)[0]


def windows_exports(data: bytes) -> List[str]:
    """The names that a DLL shows."""
    table = _windows_table(data, 0)
    if table == 0:
        return []
    at = _windows_place(data, table)
    count, = struct.unpack_from("<I", data, at + 24)
    names, = struct.unpack_from("<I", data, at + 32)
    return [_windows_text(data, address)
            for address in struct.unpack_from(f"<{count}I", data, _windows_place(data, names))]


def windows_imports(data: bytes) -> List[str]:
    """The DLLs that a DLL needs."""
    table = _windows_table(data, 1)
    found: List[str] = []
    if table == 0:
        return found
    at = _windows_place(data, table)
    while True:
        name, = struct.unpack_from("<I", data, at + 12)
        if name == 0:
            return found
        found.append(_windows_text(data, name))
        at += 20


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


def macos_version(data: bytes) -> Tuple[int, int]:
    """The oldest macOS that a library is for."""
    for kind, at in mach_o.commands(data):
        # LC_BUILD_VERSION and LC_VERSION_MIN_MACOSX
        place = {0x32: at + 12, 0x24: at + 8}.get(kind)
        if place is not None:
            version, = struct.unpack_from("<I", data, place)
            return version >> 16, version >> 8 & 0xff
    raise ValueError("the library does not tell for which macOS it is")


def macos_imports(data: bytes) -> List[str]:
    """The libraries that a library for macOS needs."""
    found = []
    for kind, at in mach_o.commands(data):
        if kind == 0xc:  # LC_LOAD_DYLIB
            begin = at + struct.unpack_from("<I", data, at + 8)[0]
            found.append(data[begin:data.index(b"\0", begin)].decode())
    return found


def macos_exports(data: bytes) -> List[str]:
    """The names that a library for macOS shows, without their first underscore."""
    for kind, at in mach_o.commands(data):
        # LC_DYLD_INFO_ONLY and LC_DYLD_EXPORTS_TRIE
        place = {0x80000022: at + 40, 0x80000033: at + 8}.get(kind)
        if place is not None:
            first, length = struct.unpack_from("<II", data, place)
            return [name[1:] for name in _names_below(data[first:first + length], 0, b"")]
    return []
