# SPDX-License-Identifier: Apache-2.0
"""The library for Apple's machines as an XCFramework of static libraries.

    files = xcframework_archive.contents([archive, ...], header)

Each folder is for one kind of machine and has a library for all of its processors, petrel.h and
the module CPetrel, which is what extension/swift is written over.
"""

import plistlib
from typing import Any, Dict, List

import mach_o

NAME = "CPetrel.xcframework"

# The static library needs Apple's library of C++. The map lies in a folder named like the module,
# where clang looks, because Xcode puts the headers of all frameworks into one folder.
_MODULE_MAP = """module CPetrel {
  header "../petrel/petrel.h"
  link "c++"
  export *
}
"""


def _identifier(slices: List[mach_o.Slice]) -> str:
    processors = "_".join(sorted(each.processor for each in slices))
    system, _, variant = slices[0].platform.partition("-")
    return f"{system}-{processors}" + (f"-{variant}" if variant else "")


def _entry(identifier: str, slices: List[mach_o.Slice]) -> Dict[str, Any]:
    system, _, variant = slices[0].platform.partition("-")
    entry: Dict[str, Any] = {
        "BinaryPath": "libpetrel.a",
        "HeadersPath": "Headers",
        "LibraryIdentifier": identifier,
        "LibraryPath": "libpetrel.a",
        "SupportedArchitectures": sorted(each.processor for each in slices),
        "SupportedPlatform": system,
    }
    if variant:
        entry["SupportedPlatformVariant"] = variant
    return entry


def contents(archives: List[bytes], header: bytes) -> Dict[str, bytes]:
    """The files by their paths below the folder NAME, of archives for one processor each."""
    by_platform: Dict[str, Dict[mach_o.Slice, bytes]] = {}
    for data in archives:
        told = mach_o.slice_of(data)
        same = by_platform.setdefault(told.platform, {})
        if any(told.processor == each.processor for each in same):
            raise ValueError(f"there are two archives for {told.platform} on one processor")
        same[told] = data
    files: Dict[str, bytes] = {}
    entries = []
    for _, same in sorted(by_platform.items()):
        slices = list(same)
        identifier = _identifier(slices)
        entries.append(_entry(identifier, slices))
        files[f"{identifier}/libpetrel.a"] = mach_o.universal(list(same.values()))
        files[f"{identifier}/Headers/petrel/petrel.h"] = header
        files[f"{identifier}/Headers/CPetrel/module.modulemap"] = _MODULE_MAP.encode()
    files["Info.plist"] = plistlib.dumps({
        "AvailableLibraries": entries,
        "CFBundlePackageType": "XFWK",
        "XCFrameworkFormatVersion": "1.0",
    })
    return files
