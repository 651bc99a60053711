# SPDX-License-Identifier: Apache-2.0
"""Writes the SDK for people who do not build Petrel: archives, a wheel, checksums.

    ./bazelw run //dist -- --output-dir out

    out/petrel-0.1.0-linux-x86_64.tar.gz          headers, libraries, the command
    out/petrel-runtime-0.1.0-linux-x86_64.tar.gz  the same without the command
    out/petrel_runtime-0.1.0-py3-none-manylinux_2_34_x86_64.whl
    out/SHA256SUMS

Equal sources and packages of the system give equal bytes, in whatever folder. docs/sdk.md
says how the archives are used.
"""

import argparse
import gzip
import hashlib
import io
import os
import pathlib
import platform
import re
import subprocess
import tarfile
import tempfile
from typing import Dict, List

import headers
import notice
import runtime_wheel
import sbom
import wheel_file

# In the runfiles, where what is packed lies beside it.
HERE = pathlib.Path(__file__).absolute().parent
COMPONENTS = ("core", "threads", "kernels", "xnnpack", "module")


def version_of(top: pathlib.Path) -> str:
    text = (top / "runtime/core/version.h").read_text()
    return re.search(r'kVersion\[\] = "([^"]+)"', text)[1]


def debian_version(package: str) -> str:
    """Of the first of the packages that a row of NOTICE names."""
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package.split()[0]],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or not done.stdout:
        raise SystemExit(f"dist: package {package} is not installed, so its version is not known")
    return done.stdout


def versions_of(top: pathlib.Path, libraries: List[notice.Library]) -> Dict[str, str]:
    sources = top.parent / "debian_sources"
    return {library.name: (sources / f"{library.package}.version").read_text().strip()
                          if library.is_built else debian_version(library.package)
            for library in libraries}


def stripped(path: pathlib.Path) -> bytes:
    """A program or shared library without the symbols that only its linker needed."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, path.name)
        subprocess.run(["strip", "--strip-unneeded", "-o", out, path], check=True)
        return out.read_bytes()


def filled(name: str, version: str) -> bytes:
    return (HERE / name).read_text().replace("@version@", version).encode()


def contents(top: pathlib.Path, name: str, with_command: bool) -> Dict[str, bytes]:
    """The files of an archive by their paths in it."""
    version = version_of(top)
    files = {f"include/{path}": data for path, data in headers.of_sdk(top).items()}
    for component in COMPONENTS:
        library = f"libpetrel_{component}.a"
        files[f"lib/{library}"] = (top / "dist" / library).read_bytes()
    files["lib/libpetrel.so"] = stripped(top / "extension/c_api/libpetrel.so")
    files["libexec/petrel/used_kernels"] = stripped(top / "runtime/selection/used_kernels")
    if with_command:
        files["bin/petrel"] = stripped(top / "extension/cli/petrel")
    cmake = "lib/cmake/petrel"
    files[f"{cmake}/petrel-config.cmake"] = filled("petrel-config.cmake.in", version)
    files[f"{cmake}/petrel-config-version.cmake"] = filled("petrel-config-version.cmake.in",
                                                           version)
    files[f"{cmake}/petrel-registry.cmake"] = (HERE / "petrel-registry.cmake").read_bytes()
    java = top / "extension/java"
    for path in [java / "petrel_jni.c", *sorted(java.glob("src/io/petrel/*.java"))]:
        files[f"share/petrel/java/{path.relative_to(java)}"] = path.read_bytes()
    files["lib/pkgconfig/petrel.pc"] = filled("petrel.pc.in", version)
    licences = "share/doc/petrel"
    for file in ("LICENSE", "NOTICE"):
        files[f"{licences}/{file}"] = (top / file).read_bytes()
    libraries = notice.libraries((top / "NOTICE").read_text(), with_command)
    for library in libraries:
        if not library.is_built:
            package = library.package.split()[0]
            text = pathlib.Path("/usr/share/doc", package, "copyright")
            files[f"{licences}/{package}.txt"] = text.read_bytes()
    files["share/petrel/petrel.spdx.json"] = sbom.document(name, version, files, libraries,
                                                           versions_of(top, libraries))
    sums = "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    files["share/petrel/SHA256SUMS"] = sums.encode()
    return files


def packed(name: str, files: Dict[str, bytes]) -> bytes:
    """An archive with one folder `name`; the same bytes for the same files."""
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(files[path])
            is_program = path.startswith(("bin/", "libexec/")) or path.endswith(".so")
            entry.mode = 0o755 if is_program else 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    return gzip.compress(tape.getvalue(), compresslevel=6, mtime=0)


def write(path: pathlib.Path, data: bytes) -> None:
    """The file appears complete or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_wheel(top: pathlib.Path, folder: pathlib.Path, whole: Dict[str, bytes]) -> pathlib.Path:
    """The package petrel_runtime, with the library and the command of an archive."""
    version = version_of(top)
    licences = {pathlib.Path(path).name: data for path, data in whole.items()
                if path.startswith("share/doc/petrel/")}
    tag = runtime_wheel.tag([top / "extension/c_api/libpetrel.so", top / "extension/cli/petrel"])
    files = runtime_wheel.contents(top, version, tag, whole["lib/libpetrel.so"],
                                   whole["bin/petrel"], licences)
    return wheel_file.write(folder, "petrel_runtime", version, tag, files,
                            programs={runtime_wheel.PROGRAM})


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the SDK.")
    parser.add_argument("--output-dir", required=True, help="folder, made if it is not there")
    arguments = parser.parse_args()
    # Paths are the user's, who is not where `bazel run` starts the program.
    start = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = start / arguments.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    top = HERE.parent
    target = f"{version_of(top)}-linux-{platform.machine()}"
    written = []
    whole = contents(top, f"petrel-{target}", True)
    runtime = contents(top, f"petrel-runtime-{target}", False)
    for name, files in ((f"petrel-{target}", whole), (f"petrel-runtime-{target}", runtime)):
        written.append(folder / f"{name}.tar.gz")
        write(written[-1], packed(name, files))
    written.append(write_wheel(top, folder, whole))
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                   for path in written)
    write(folder / "SHA256SUMS", sums.encode())
    for path in written:
        print(path)


if __name__ == "__main__":
    main()
