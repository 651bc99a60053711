# SPDX-License-Identifier: Apache-2.0
"""Writes the library for Android as a file, where libraries for it were built.

    path = aar_file.write(top, folder)     # petrel-android-0.1.0.aar, or ...-stubs.aar

Beside the folder `top` with what is packed must lie @android, which tells of the NDK.
"""

import pathlib
from typing import Dict

import android_archive
import archive_file
import facts
import java_classes
import notice
import sbom
import zip_file

LIBCXX = notice.Library("libc++", "android-ndk", "Apache-2.0 WITH LLVM-exception", False, False)


def is_built(top: pathlib.Path) -> bool:
    """Whether there are libraries for devices, which takes an NDK."""
    return (top / "dist/android").is_dir()


def _described(top: pathlib.Path, name: str, ndk: android_archive.Ndk,
               files: Dict[str, bytes]) -> Dict[str, bytes]:
    """The files with licences and a bill of materials."""
    linked = [library for library in notice.libraries((top / "NOTICE").read_text(), False)
              if library != notice.LIBSTDCPP]
    versions = {**facts.versions_of(top, linked), LIBCXX.name: ndk.revision}
    texts = facts.licences(top, linked)
    for path in (top.parent / "android/notices").iterdir():
        texts[f"{path.name}.ndk"] = path.read_bytes()
    files = {**files, **{f"META-INF/petrel/{file}": texts[file] for file in sorted(texts)}}
    files["META-INF/petrel/petrel.spdx.json"] = sbom.document(
        name, facts.version_of(top), files, [*linked, LIBCXX], versions)
    files["META-INF/petrel/SHA256SUMS"] = archive_file.sums_of(files)
    return files


def write(top: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    version = facts.version_of(top)
    ndk = android_archive.ndk_of((top.parent / "android/revision").read_text())
    name = f"petrel-android-{version}" + ("-stubs" if ndk.is_stubs else "")
    libraries: Dict[str, Dict[str, bytes]] = {
        abi.name: {path.name: path.read_bytes() for path in abi.iterdir()}
        for abi in sorted((top / "dist/android").iterdir())}
    files = android_archive.contents(version, ndk, libraries, java_classes.jar(top),
                                     (top / "extension/c_api/petrel.h").read_bytes())
    path = folder / f"{name}.aar"
    archive_file.write(path, zip_file.packed(_described(top, name, ndk, files)))
    return path
