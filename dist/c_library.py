# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for one kind of machine: an archive and a wheel.

    ./bazelw run --config=zig_arm64 //dist:c_library -- --output-dir out

    out/petrel-c-0.1.0-manylinux_2_17_aarch64.tar.gz     petrel.h and libpetrel.so
    out/petrel_runtime-0.1.0-py3-none-manylinux_2_17_aarch64.whl
    out/SHA256SUMS-manylinux_2_17_aarch64

The configuration says for which machine; without one it is this one. docs/sdk.md lists them.
"""

import argparse
import os
import pathlib
from typing import Dict

import archive_file
import elf
import facts
import notice
import runtime_wheel
import sbom
import wheel_file

HERE = pathlib.Path(__file__).absolute().parent


def licences(top: pathlib.Path, is_zig: bool) -> Dict[str, bytes]:
    """Licence texts by file name."""
    texts = {file: (top / file).read_bytes() for file in ("LICENSE", "NOTICE")}
    for library in notice.libraries((top / "NOTICE").read_text(), False, is_zig):
        if library.is_debian:
            package = library.package.split()[0]
            texts[f"{package}.txt"] = facts.debian_licence(package)
    if is_zig:
        for path in sorted((top.parent / "zig/licences").iterdir()):
            texts[path.name] = path.read_bytes()
    return texts


def contents(top: pathlib.Path, name: str, library: bytes, is_zig: bool) -> Dict[str, bytes]:
    """The files of the archive by their paths in it."""
    version = facts.version_of(top)
    files = {"include/petrel/petrel.h": (top / "extension/c_api/petrel.h").read_bytes(),
             "lib/libpetrel.so": library,
             "lib/pkgconfig/petrel.pc": facts.filled(HERE / "petrel.pc.in", version)}
    for file, text in licences(top, is_zig).items():
        files[f"share/doc/petrel/{file}"] = text
    libraries = notice.libraries((top / "NOTICE").read_text(), False, is_zig)
    files["share/petrel/petrel.spdx.json"] = sbom.document(name, version, files, libraries,
                                                           facts.versions_of(top, libraries))
    files["share/petrel/SHA256SUMS"] = archive_file.sums_of(files)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the library of the C interface.")
    parser.add_argument("--output-dir", required=True, help="folder, made if it is not there")
    arguments = parser.parse_args()
    # Paths are the user's, who is not where `bazel run` starts the program.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = start / arguments.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    top = HERE.parent
    version = facts.version_of(top)
    path = top / "extension/c_api/libpetrel.so"
    target = elf.target(path)
    is_zig = (top.parent / "zig/licences").exists()
    library = path.read_bytes() if is_zig else facts.stripped(path)
    name = f"petrel-c-{version}-{target.platform}"
    archive = folder / f"{name}.tar.gz"
    archive_file.write(archive, archive_file.packed(name, contents(top, name, library, is_zig)))
    tag = f"py3-none-{target.platform}"
    wheel = wheel_file.write(
        folder, "petrel_runtime", version, tag,
        runtime_wheel.contents(top, version, tag, library, licences(top, is_zig)))
    archive_file.write_sums(folder, f"SHA256SUMS-{target.platform}", [archive, wheel])
    print(archive)
    print(wheel)


if __name__ == "__main__":
    main()
