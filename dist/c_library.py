# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for one kind of machine: an archive and a wheel.

    ./bazelw run --config=zig_arm64 //dist:c_library -- --output-dir out

    out/petrel-c-0.1.0-manylinux_2_17_aarch64.tar.gz     petrel.h and libpetrel.so
    out/petrel_runtime-0.1.0-py3-none-manylinux_2_17_aarch64.whl
    out/SHA256SUMS-manylinux_2_17_aarch64

The configuration says for which machine; without one it is this one. docs/sdk.md lists them.
"""

import pathlib
from typing import Dict

import archive_file
import described
import facts
import machine
import notice
import output_folder
import runtime_wheel
import wheel_file

HERE = pathlib.Path(__file__).absolute().parent


def contents(top: pathlib.Path, library: bytes) -> Dict[str, bytes]:
    """The files of the archive by their paths in it, but for those that tell of it."""
    return {"include/petrel/petrel.h": (top / "extension/c_api/petrel.h").read_bytes(),
            "lib/libpetrel.so": library,
            "lib/pkgconfig/petrel.pc": facts.filled(HERE / "petrel.pc.in",
                                                    facts.version_of(top))}


def main() -> None:
    folder = output_folder.from_arguments("Writes the library of the C interface.")
    top = HERE.parent
    version = facts.version_of(top)
    path = top / "extension/c_api/libpetrel.so"
    target = machine.target(path)
    is_zig = (top.parent / "zig/licences").exists()
    library = path.read_bytes() if is_zig else facts.stripped(path)
    name = f"petrel-c-{version}-{target.platform}"
    archive = folder / f"{name}.tar.gz"
    libraries = notice.libraries((top / "NOTICE").read_text(), False, is_zig)
    files = described.described(top, name, contents(top, library), libraries)
    archive_file.write(archive, archive_file.packed(name, files))
    tag = f"py3-none-{target.platform}"
    wheel = wheel_file.write(
        folder, "petrel_runtime", version, tag,
        runtime_wheel.contents(top, version, tag, library, facts.licences(top, libraries)))
    archive_file.write_sums(folder, f"SHA256SUMS-{target.platform}", [archive, wheel])
    print(archive)
    print(wheel)


if __name__ == "__main__":
    main()
