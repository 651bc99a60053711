# SPDX-License-Identifier: Apache-2.0
"""What NOTICE says of the libraries in what is handed on.

    for library in notice.libraries(text): library.name, library.package, library.licence
"""

import re
from typing import List, NamedTuple


class Library(NamedTuple):
    """A library that programs are linked with."""
    name: str
    # The Debian package; the source package of those that are built from source; ziglang.
    package: str
    licence: str
    is_built: bool
    is_debian: bool


_ROW = re.compile(r"^    (\w+) {2,}(\S.*?) {2,}(\S.*)$", re.M)

# In the runtime's libraries, as headers but for the first four; the rest is in the
# command only.
RUNTIME = ("cpuinfo", "fxdiv", "pthreadpool", "xnnpack", "flatbuffers", "highway", "nlohmann_json")

# What the others bring along as static libraries, and the compiler its own.
BROUGHT = (Library("zlib", "zlib1g-dev", "Zlib", False, True),)
# In the conformance suite, which is a library of the archive with the compiler.
GOOGLETEST = Library("googletest", "libgmock-dev", "BSD-3-Clause", False, True)
LIBSTDCPP = Library("libstdc++", "g++", "GPL-3.0-or-later WITH GCC-exception-3.1", False, True)
ZIG = (Library("libc++", "ziglang", "Apache-2.0 WITH LLVM-exception", False, False),
       Library("compiler_rt", "ziglang", "MIT", False, False))
# What programs for Windows start with, and their threads.
MINGW = Library("mingw-w64", "ziglang", "ZPL-2.1 AND MIT", False, False)
# In an example and in the package of Python, and so in nothing of this.
ELSEWHERE = ("openssl", "pybind11", "python_headers")
# Of these zig compiles the sources: zlib's have minizip, too.
SOURCES = ("abseil", "minizip", "rapidjson", "zlib")


def _section(text: str, begin: str, end: str) -> str:
    start = text.index(begin)
    return text[start:text.index(end, start)]


def libraries(text: str, with_command: bool, is_zig: bool = False,
              is_windows: bool = False) -> List[Library]:
    """Those of the runtime, those of the command where it is in the archive, and those of
    the compiler."""
    built = _section(text, "1. Libraries that are built", "Two of them are changed")
    found = [Library(name, name, licence, True, False) for name, _, licence in _ROW.findall(built)]
    system = _section(text, "  In programs:", "  In tests and benchmarks")
    found += [Library(name, package, licence, False, True)
              for name, package, licence in _ROW.findall(system)]
    found += BROUGHT
    if is_zig:
        sources = _section(text, "For other machines than", "2. Libraries of the system")
        found = [library for library in found if library.name not in SOURCES]
        found += [Library(name, name[:-len("_source")], licence, True, False)
                  for name, _, licence in _ROW.findall(sources)]
    if len(found) < 10:
        raise SystemExit("dist: NOTICE does not list the libraries as expected")
    kept = [library for library in found if library.name not in ELSEWHERE and
            (with_command or library.name in RUNTIME)]
    return kept + (list(ZIG) if is_zig else [LIBSTDCPP]) + ([MINGW] if is_windows else [])
