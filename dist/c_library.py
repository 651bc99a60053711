# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for one kind of machine: an archive and a wheel.

    ./bazelw run --config=zig_arm64 //dist:c_library -- --output-dir out

    out/petrel-c-0.1.0-manylinux_2_17_aarch64.tar.gz     petrel.h and libpetrel.so
    out/petrel_runtime-0.1.0-py3-none-manylinux_2_17_aarch64.whl
    out/SHA256SUMS-manylinux_2_17_aarch64

The configuration says for which machine; without one it is this one. docs/sdk.md lists them.
For Linux with glibc both have the command, too (bin/petrel), which runs from glibc 2.17 on.
For Windows the archive has bin/petrel.dll and what apps link (lib/petrel.lib, and the same as
lib/libpetrel.dll.a), for macOS lib/libpetrel.dylib; wheels are for Linux alone.
"""

import pathlib
import subprocess
import tempfile
from typing import Dict, Optional

import archive_file
import binary_file
import described
import facts
import machine
import notice
import output_folder
import runtime_wheel
import wheel_file

HERE = pathlib.Path(__file__).absolute().parent


def built_library(top: pathlib.Path) -> pathlib.Path:
    """The one that the configuration built."""
    for name in ("libpetrel.so", "petrel.dll", "libpetrel.dylib"):
        if (top / "extension/c_api" / name).exists():
            return top / "extension/c_api" / name
    raise SystemExit("dist: no library was built")


def import_library(top: pathlib.Path, machine_name: str, dll: bytes) -> bytes:
    """What an app for Windows links in place of the DLL."""
    names = "\n".join(binary_file.windows_exports(dll))
    kinds = {"x86_64": "i386:x86-64", "arm64": "arm64"}
    with tempfile.TemporaryDirectory() as folder:
        listed = pathlib.Path(folder, "petrel.def")
        listed.write_text(f"LIBRARY petrel.dll\nEXPORTS\n{names}\n")
        out = pathlib.Path(folder, "petrel.lib")
        subprocess.run([top.parent / "zig/bin/dlltool", "-m", kinds[machine_name], "-d", listed,
                        "-l", out], check=True)
        return out.read_bytes()


def built_command(top: pathlib.Path) -> Optional[pathlib.Path]:
    """The one that the configuration built, if it builds one."""
    path = top / "extension/cli/petrel"
    return path if path.exists() else None


def contents(top: pathlib.Path, target: machine.Target, library: bytes,
             command: Optional[bytes]) -> Dict[str, bytes]:
    """The files of the archive by their paths in it, but for those that tell of it."""
    files = {"include/petrel/petrel.h": (top / "extension/c_api/petrel.h").read_bytes(),
             "lib/pkgconfig/petrel.pc": facts.filled(HERE / "petrel.pc.in",
                                                     facts.version_of(top))}
    if target.library == "windows":
        files["bin/petrel.dll"] = library
        files["lib/petrel.lib"] = import_library(top, target.machine, library)
        files["lib/libpetrel.dll.a"] = files["lib/petrel.lib"]
    elif target.library == "macos":
        files["lib/libpetrel.dylib"] = library
    else:
        files["lib/libpetrel.so"] = library
    if command is not None:
        files["bin/petrel"] = command
    return files


def main() -> None:
    folder = output_folder.from_arguments("Writes the library of the C interface.")
    top = HERE.parent
    version = facts.version_of(top)
    is_zig = (top.parent / "zig/licences").exists()
    path, command_path = built_library(top), built_command(top) if is_zig else None
    # The newer of what the two need.
    target = max(machine.target(each) for each in (path, command_path) if each)
    library = path.read_bytes() if is_zig else facts.stripped(path)
    command = command_path.read_bytes() if command_path else None
    name = f"petrel-c-{version}-{target.platform}"
    archive = folder / f"{name}.tar.gz"
    libraries = notice.libraries((top / "NOTICE").read_text(), command is not None, is_zig,
                                 target.library == "windows")
    files = described.described(top, name, contents(top, target, library, command), libraries)
    archive_file.write(archive, archive_file.packed(name, files))
    written = [archive]
    if target.library not in ("windows", "macos"):
        tag = f"py3-none-{target.platform}"
        written.append(wheel_file.write(
            folder, "petrel_runtime", version, tag,
            runtime_wheel.contents(top, version, tag, library, facts.licences(top, libraries),
                                   command),
            programs={runtime_wheel.PROGRAM}))
    archive_file.write_sums(folder, f"SHA256SUMS-{target.platform}", written)
    for path in written:
        print(path)


if __name__ == "__main__":
    main()
