# SPDX-License-Identifier: Apache-2.0
"""The library for Android as an AAR: classes, shared libraries by kind of device, and the
interface of C for apps that have code of their own (prefab).

    files = android_archive.contents("0.1.0", ndk, {"arm64-v8a": {"libpetrel.so": b"..."}},
                                     classes, header)
    data = zip_file.packed(files)
"""

import json
import re
from typing import Any, Dict, NamedTuple

MIN_SDK = 24

_MANIFEST = f"""<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="io.petrel">
    <uses-sdk android:minSdkVersion="{MIN_SDK}" />
</manifest>
"""

# The native half finds classes, their fields and functions by name.
_RULES = """-keep class io.petrel.** { *; }
"""

_STUBS = """The shared libraries in this archive were linked against stubs of Android's libraries,
which have their names and versions and nothing behind them: they have never run. Link them with
an NDK for what you hand on (docs/android.md).
"""


class Ndk(NamedTuple):
    """What the libraries were built with."""
    is_stubs: bool
    revision: str

    @property
    def major(self) -> int:
        """Of stubs the one of the first NDK with libraries like these."""
        return 21 if self.is_stubs else int(self.revision.split(".")[0])


def ndk_of(text: str) -> Ndk:
    """What @android//:revision says."""
    words = re.fullmatch(r"(stubs )?(\d+\.[\w.-]+)\n", text)
    if words is None:
        raise SystemExit(f"dist: the NDK is '{text.strip()}', must be given: --ndk FOLDER")
    return Ndk(words[1] is not None, words[2])


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _prefab(version: str, ndk: Ndk, libraries: Dict[str, Dict[str, bytes]],
            header: bytes) -> Dict[str, bytes]:
    module = "prefab/modules/petrel"
    files = {
        "prefab/prefab.json": _json({"name": "petrel", "schema_version": 2, "dependencies": [],
                                     "version": version}),
        f"{module}/module.json": _json({"export_libraries": [], "library_name": None}),
        f"{module}/include/petrel/petrel.h": header,
    }
    for abi, built in libraries.items():
        files[f"{module}/libs/android.{abi}/abi.json"] = _json(
            {"abi": abi, "api": MIN_SDK, "ndk": ndk.major, "stl": "none", "static": False})
        files[f"{module}/libs/android.{abi}/libpetrel.so"] = built["libpetrel.so"]
    return files


def contents(version: str, ndk: Ndk, libraries: Dict[str, Dict[str, bytes]], classes: bytes,
             header: bytes) -> Dict[str, bytes]:
    """The files by their paths, but for those that tell of them; libraries by kind of device."""
    files = {"AndroidManifest.xml": _MANIFEST.encode(), "classes.jar": classes, "R.txt": b"",
             "proguard.txt": _RULES.encode()}
    for abi, built in sorted(libraries.items()):
        files.update({f"jni/{abi}/{name}": built[name] for name in sorted(built)})
    files.update(_prefab(version, ndk, libraries, header))
    if ndk.is_stubs:
        files["META-INF/petrel/STUBS"] = _STUBS.encode()
    return files
