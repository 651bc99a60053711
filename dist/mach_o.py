# SPDX-License-Identifier: Apache-2.0
"""Archives of objects for Apple's machines: what they are for, and several of them as one.

    mach_o.slice_of(data)     Slice(processor="arm64", platform="ios-simulator", version=(15, 0))
    mach_o.universal([arm64, x86_64])

An archive for one processor has objects alone; a universal one has such archives behind each
other, as lipo makes it.
"""

import struct
from typing import Iterator, List, NamedTuple, Set, Tuple

_MAGIC = b"!<arch>\n"
_OBJECT = 0xfeedfacf
_PROCESSORS = {0x01000007: ("x86_64", 3), 0x0100000c: ("arm64", 0)}
_PLATFORMS = {1: "macos", 2: "ios", 7: "ios-simulator"}
_BUILD_VERSION = 0x32
_SYMBOLS = 2
_EXTERNAL, _PRIVATE, _KIND, _UNDEFINED = 0x01, 0x10, 0x0e, 0


class Slice(NamedTuple):
    """What an archive is for."""
    processor: str
    platform: str
    version: Tuple[int, int]


def objects(data: bytes) -> Iterator[bytes]:
    """The objects of an archive for one processor."""
    if data[:8] != _MAGIC:
        raise ValueError("this is not an archive of objects")
    at = 8
    while at + 60 <= len(data):
        name, size = data[at:at + 16].decode().strip(), int(data[at + 48:at + 58])
        begin = at + 60
        # Long names are in front of the object.
        skipped = int(name[3:]) if name.startswith("#1/") else 0
        member = data[begin + skipped:begin + size]
        if member[:4] == struct.pack("<I", _OBJECT):
            yield member
        at = begin + size + size % 2


def commands(member: bytes) -> Iterator[Tuple[int, int]]:
    """The kind and the place of each load command of an object or a library."""
    count, = struct.unpack_from("<I", member, 16)
    at = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", member, at)
        yield kind, at
        at += size


def _slice_of_object(member: bytes) -> Slice:
    processor = _PROCESSORS[struct.unpack_from("<I", member, 4)[0]][0]
    for kind, at in commands(member):
        if kind == _BUILD_VERSION:
            platform, version = struct.unpack_from("<II", member, at + 8)
            return Slice(processor, _PLATFORMS[platform], (version >> 16, version >> 8 & 0xff))
    raise ValueError("an object does not tell for which machine it is")


def slice_of(data: bytes) -> Slice:
    """What all objects of an archive are for."""
    found = {_slice_of_object(member) for member in objects(data)}
    if len(found) != 1:
        raise ValueError(f"an archive has objects for {sorted(found)}, must be for one machine")
    return found.pop()


class Names(NamedTuple):
    """Of functions and variables, as C calls them."""
    # What an app that links the archive would show to others.
    shown: Set[str]
    # What the system must have.
    asked: Set[str]


def _rows(member: bytes) -> Iterator[Tuple[str, int]]:
    """The names of an object with their flags."""
    for kind, at in commands(member):
        if kind == _SYMBOLS:
            first, count, texts = struct.unpack_from("<III", member, at + 8)
            for place in range(first, first + 16 * count, 16):
                text, flags = struct.unpack_from("<IB", member, place)
                begin = texts + text
                yield member[begin + 1:member.index(b"\0", begin)].decode(), flags


def names(data: bytes) -> Names:
    shown, hidden, undefined = set(), set(), set()
    for member in objects(data):
        for name, flags in _rows(member):
            if not flags & _EXTERNAL:
                continue
            if flags & _KIND == _UNDEFINED:
                undefined.add(name)
            else:
                # What is private stays in the app.
                (hidden if flags & _PRIVATE else shown).add(name)
    return Names(shown, undefined - shown - hidden)


def universal(archives: List[bytes]) -> bytes:
    """One file of archives for several processors, in the order of their numbers."""
    if len(archives) == 1:
        return archives[0]
    rows = []
    for data in archives:
        processor = slice_of(data).processor
        number, kind = next((number, kind) for number, (name, kind) in _PROCESSORS.items()
                            if name == processor)
        rows.append((number, kind, data))
    rows.sort(key=lambda row: row[:2])
    head, body = struct.pack(">II", 0xcafebabe, len(rows)), b""
    start = (8 + 20 * len(rows) + 7) // 8 * 8
    for number, kind, data in rows:
        head += struct.pack(">IIIII", number, kind, start + len(body), len(data), 3)
        body += data + bytes(-len(data) % 8)
    return head + bytes(start - len(head)) + body
