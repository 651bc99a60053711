# SPDX-License-Identifier: Apache-2.0
"""What holds of the archive for Apple's machines.

    apple_checks.py FOLDER ZIG      # prints a row for each library, or ends with 1

FOLDER is the archive, unpacked; ZIG the compiler's folder, which has a list of what is in macOS's
C library. What the library of C++ must have is checked by the compiler: its headers know what
came with which system.
"""

import pathlib
import plistlib
import re
import struct
import sys
from typing import List, Set

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "dist"))
import mach_o  # noqa: E402: it is where the archive is made

WANTED = {"ios-arm64": ["arm64"], "ios-arm64_x86_64-simulator": ["arm64", "x86_64"],
          "macos-arm64_x86_64": ["arm64", "x86_64"]}
OLDEST = {"ios": (15, 0), "macos": (11, 0)}


class Failed(Exception):
    """What did not hold."""


def holds(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)


def parts_of(data: bytes) -> List[bytes]:
    """The archives of a universal one, or it alone."""
    if data[:4] != struct.pack(">I", 0xcafebabe):
        return [data]
    count, = struct.unpack_from(">I", data, 4)
    rows = [struct.unpack_from(">IIIII", data, 8 + 20 * i) for i in range(count)]
    return [data[start:start + size] for _, _, start, size, _ in rows]


def interface() -> List[str]:
    text = (TREE / "extension/c_api/petrel.h").read_text()
    return sorted(re.findall(r"PETREL_EXPORT [^;(]*?(petrel_\w+)\(", text))


def of_the_system(zig: pathlib.Path) -> Set[str]:
    """Functions and variables of macOS, as C calls them."""
    text = (zig / "lib/libc/darwin/libSystem.tbd").read_text()
    return {name[1:] for name in re.findall(r"[\w$.]+", text) if name.startswith("_")}


# The linker makes it.
OF_THE_LINKER = {"__dso_handle"}


def is_of_cpp(name: str) -> bool:
    return name.startswith(("__cxa_", "__gxx_")) or \
        (name.startswith("_Z") and "6petrel" not in name)


def check_part(name: str, part: bytes, system: Set[str]) -> str:
    """A row of what is for one processor."""
    told = mach_o.slice_of(part)
    platform = name.split("-")[0] + ("-simulator" if name.endswith("-simulator") else "")
    holds(told.processor in WANTED[name] and told.platform == platform and
          told.version == OLDEST[name.split("-")[0]], f"{name} has objects for {told}")
    # Apple's linker reads BSD's tables alone.
    holds(part[8:11] == b"#1/" and b"__.SYMDEF" in part[:128], f"{name} has no table of names")
    names = mach_o.names(part)
    shown = sorted(each for each in names.shown if not each.startswith("_Z"))
    holds(shown == interface(), f"{name} shows {shown}")
    missing = sorted(each for each in names.asked - system - OF_THE_LINKER if not is_of_cpp(each))
    holds(not missing, f"{name} asks for {missing}")
    return (f"| {name} | {told.processor} | {len(part)} | {sum(1 for _ in mach_o.objects(part))} | "
            f"{len(shown)} | {len(names.asked)} |")


def check(folder: pathlib.Path, system: Set[str]) -> List[str]:
    framework = folder / "CPetrel.xcframework"
    rows = plistlib.loads((framework / "Info.plist").read_bytes())["AvailableLibraries"]
    found = {row["LibraryIdentifier"]: row["SupportedArchitectures"] for row in rows}
    holds(found == WANTED, f"the libraries are {found}")
    table = []
    for row in rows:
        name = row["LibraryIdentifier"]
        headers = framework / name / row["HeadersPath"]
        holds((headers / "petrel/petrel.h").read_bytes() ==
              (TREE / "extension/c_api/petrel.h").read_bytes(), f"petrel.h of {name}")
        holds("module CPetrel" in (headers / "CPetrel/module.modulemap").read_text(),
              f"module of {name}")
        for part in parts_of((framework / name / row["LibraryPath"]).read_bytes()):
            table.append(check_part(name, part, system))
    holds(len(table) == sum(len(each) for each in WANTED.values()), f"{len(table)} libraries")
    return table


def main() -> int:
    try:
        table = check(pathlib.Path(sys.argv[1]), of_the_system(pathlib.Path(sys.argv[2])))
    except (Failed, ValueError) as why:
        print(f"apple_checks: {why}", file=sys.stderr)
        return 1
    print("| library | processor | bytes | objects | functions | asked of the system |\n"
          "|---|---|---:|---:|---:|---:|")
    print("\n".join(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
