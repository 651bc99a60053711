# SPDX-License-Identifier: Apache-2.0
"""What libraries and programs for other machines show and need.

    binary_checks.check_symbols(machine, prefix)            of the library of an archive
    binary_checks.check_needs(machine, prefix / "bin/petrel")
"""

import pathlib
import re
import sys
from typing import List

from machine_list import TREE, Failed, Machine, done

sys.path.insert(0, str(TREE / "dist"))
import binary_file  # noqa: E402: it is where the SDK is made


def shown_symbols(machine: Machine, library: pathlib.Path) -> List[str]:
    """What can be linked to, without what a system puts before it."""
    if machine.system == "windows":
        return binary_file.windows_exports(library.read_bytes())
    if machine.system == "macos":
        # zig's linker shows two names of its own.
        return [name for name in binary_file.macos_exports(library.read_bytes())
                if name not in ("_mh_dylib_header", "__dso_handle")]
    lines = [line.split() for line in done("readelf", "--wide", "--dyn-syms", library).splitlines()]
    # The name of a version is a symbol, too.
    return [words[7].split("@")[0] for words in lines
            if len(words) > 7 and words[6] not in ("UND", "ABS") and words[3] in ("FUNC", "OBJECT")]


# What a system has from its first day on.
OF_SYSTEMS = {
    "gnu": r"(libc|libm|libpthread|libdl|librt)[.]so[.][0-9]|ld-linux-.*[.]so[.][0-9]",
    "musl": r"libc[.]so",
    "windows": r"(kernel32|advapi32|bcrypt|ntdll)[.]dll|api-ms-win-(crt|core)-[-a-z0-9]+[.]dll",
    "macos": r"/usr/lib/libSystem[.]B[.]dylib",
}


def needed(machine: Machine, library: pathlib.Path) -> List[str]:
    """The libraries that it is loaded with."""
    if machine.system == "windows":
        return binary_file.windows_imports(library.read_bytes())
    if machine.system == "macos":
        return binary_file.macos_imports(library.read_bytes())
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]",
                      done("readelf", "--wide", "--dynamic", library))


def check_needs(machine: Machine, library: pathlib.Path) -> None:
    """The system's own alone; the names of the files tell the oldest version of it."""
    kind = machine.system if machine.system != "linux" else \
        machine.target.split("-")[2].split(".")[0]
    foreign = [name for name in needed(machine, library)
               if not re.fullmatch(OF_SYSTEMS[kind], name, re.IGNORECASE)]
    if foreign:
        raise Failed(f"{library.name} needs {', '.join(foreign)}")


def interface() -> List[str]:
    """The functions of petrel.h."""
    text = (TREE / "extension/c_api/petrel.h").read_text()
    return sorted(re.findall(r"PETREL_EXPORT [^;(]*?(petrel_\w+)\(", text))


def check_symbols(machine: Machine, prefix: pathlib.Path) -> None:
    """All of the interface is there to be seen and nothing else."""
    shown, expected = shown_symbols(machine, prefix / machine.library), interface()
    if sorted(shown) != expected:
        raise Failed(f"{machine.library} shows {sorted(set(shown) - set(expected))} and lacks "
                     f"{sorted(set(expected) - set(shown))}")
