# SPDX-License-Identifier: Apache-2.0
"""What programs and shared libraries of Linux ask of the system that loads them.

    elf.machine(path)       "x86_64"
    elf.needed(path)        ["libm.so.6", ...]
    elf.platform(paths)     "manylinux_2_35_x86_64", the oldest systems that load all of them
"""

import pathlib
import re
import struct
from typing import Iterable, Iterator, List, Tuple

_DYNAMIC, _VERSIONS_WANTED = 6, 0x6ffffffe  # types of sections
_NEEDED = 1  # tag of an entry
_MACHINES = {0x3e: "x86_64", 0xb7: "aarch64"}

# Of GCC's library of C++, the newest version 3.4.N that systems with glibc 2.M have, as
# PEP 600 and auditwheel tell of each manylinux: (N, M).
_CPP_OF_GLIBC = ((28, 31), (29, 34), (30, 35), (33, 39))


def _read(path: pathlib.Path) -> bytes:
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        raise ValueError(f"{path} is no 64-bit little-endian ELF file")
    return data


def _sections(data: bytes, kind: int) -> Iterator[Tuple[int, int, int]]:
    """Place, length and the place of the names of each section of this kind."""
    table, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQII", data, table + i * size) for i in range(count)]
    for section in sections:
        if section[1] == kind:
            yield section[4], section[5], sections[section[6]][4]


def _text(data: bytes, at: int) -> str:
    return data[at:data.index(b"\0", at)].decode()


def machine(path: pathlib.Path) -> str:
    """The processor that it is for, as wheels name it."""
    number, = struct.unpack_from("<H", _read(path), 18)
    if number not in _MACHINES:
        raise ValueError(f"{path} is for processor {number}, must be for one of "
                         f"{', '.join(_MACHINES.values())}")
    return _MACHINES[number]


def needed(path: pathlib.Path) -> List[str]:
    """Names of libraries that it asks for, such as "libm.so.6"."""
    data = _read(path)
    names: List[str] = []
    for offset, length, text in _sections(data, _DYNAMIC):
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<QQ", data, at)
            if tag == _NEEDED:
                names.append(_text(data, text + value))
    return names


def versions(path: pathlib.Path) -> List[str]:
    """Versions of libraries' symbols that it asks for, such as "GLIBC_2.34"."""
    data = _read(path)
    names: List[str] = []
    for offset, _, text in _sections(data, _VERSIONS_WANTED):
        more = 1
        while more:
            _, count, _, first, more = struct.unpack_from("<HHIII", data, offset)
            at = offset + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", data, at)
                names.append(_text(data, text + name))
                at += step
            offset += more
    return names


def platform(paths: Iterable[pathlib.Path]) -> str:
    """The last part of a wheel's tag: the oldest glibc, and what comes with it, that will do."""
    paths = list(paths)
    machines = {machine(path) for path in paths}
    if len(machines) != 1:
        raise ValueError(f"{', '.join(map(str, paths))} are for {' and '.join(machines)}")
    # The oldest that wheels name.
    oldest = 17
    for path in paths:
        for version in versions(path):
            found = re.match(r"GLIBC_2\.(\d+)", version)
            if found:
                oldest = max(oldest, int(found[1]))
            found = re.match(r"GLIBCXX_3\.4\.(\d+)", version)
            if found and int(found[1]) > 19:
                fits = [glibc for cpp, glibc in _CPP_OF_GLIBC if cpp >= int(found[1])]
                if not fits:
                    raise ValueError(f"{path} needs {version}, which no known system has")
                oldest = max(oldest, min(fits))
    return f"manylinux_2_{oldest}_{machines.pop()}"
