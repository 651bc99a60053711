# SPDX-License-Identifier: Apache-2.0
"""Writes the library for Android: an AAR.

    ./bazelw run --ndk FOLDER //dist:aar -- --output-dir out

    out/petrel-android-0.1.0.aar           petrel-android-0.1.0-stubs.aar without a real NDK
    out/SHA256SUMS-android

docs/android.md says how an app takes it.
"""

import pathlib
from typing import Dict

import android_archive
import archive_file
import facts
import java_classes
import notice
import output_folder
import sbom
import zip_file

HERE = pathlib.Path(__file__).absolute().parent
LIBCXX = notice.Library("libc++", "android-ndk", "Apache-2.0 WITH LLVM-exception", False, False)


def described(top: pathlib.Path, name: str, ndk: android_archive.Ndk,
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


def main() -> None:
    folder = output_folder.from_arguments("Writes the library for Android.")
    top = HERE.parent
    version = facts.version_of(top)
    ndk = android_archive.ndk_of((top.parent / "android/revision").read_text())
    name = f"petrel-android-{version}" + ("-stubs" if ndk.is_stubs else "")
    libraries: Dict[str, Dict[str, bytes]] = {
        abi.name: {path.name: path.read_bytes() for path in abi.iterdir()}
        for abi in sorted((HERE / "android").iterdir())}
    files = android_archive.contents(version, ndk, libraries, java_classes.jar(top),
                                     (top / "extension/c_api/petrel.h").read_bytes())
    path = folder / f"{name}.aar"
    archive_file.write(path, zip_file.packed(described(top, name, ndk, files)))
    archive_file.write_sums(folder, "SHA256SUMS-android", [path])
    print(path)


if __name__ == "__main__":
    main()
