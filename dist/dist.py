# SPDX-License-Identifier: Apache-2.0
"""Writes the SDK for people who do not build Petrel: archives, a wheel, checksums.

    ./bazelw run //dist -- --output-dir out

    out/petrel-0.1.0-linux-x86_64.tar.gz          headers, libraries, the command
    out/petrel-runtime-0.1.0-linux-x86_64.tar.gz  the same without the command
    out/petrel-symbols-0.1.0-linux-x86_64.tar.gz  names of functions, for debuggers
    out/petrel_runtime-0.1.0-py3-none-manylinux_2_34_x86_64.whl
    out/petrel-android-0.1.0.aar                  with --ndk FOLDER, before `run` or behind it
    out/SHA256SUMS

Equal sources and packages of the system give equal bytes, in whatever folder. docs/sdk.md
says how the archives are used.
"""

import pathlib
import platform
from typing import Dict

import aar_file
import archive_file
import bazel_packages
import described
import facts
import headers
import machine
import notice
import output_folder
import runtime_wheel
import static_libraries
import wheel_file

# In the runfiles, where what is packed lies beside it.
HERE = pathlib.Path(__file__).absolute().parent
COMPONENTS = ("core", "threads", "kernels", "xnnpack", "module", "c_api")

_SYSTEM = pathlib.Path("/usr/lib") / f"{platform.machine()}-linux-gnu"

# Of the archive with the compiler, each with the libraries of the system that go into it.
COMPILER = {
    "libpetrel_compiler.a": ("libminizip.a", "libz.a"),
    "libpetrel_command.a": (),
    "petrel_conformance.o": ("libgmock.a", "libgtest.a", "libgtest_main.a"),
}

# Programs and shared libraries, stripped in an archive -> where they were built.
STRIPPED = {
    "lib/libpetrel.so": "extension/c_api/libpetrel.so",
    "libexec/petrel/used_kernels": "runtime/selection/used_kernels",
    "bin/petrel": "extension/cli/petrel",
}


def compiler(top: pathlib.Path) -> Dict[str, bytes]:
    """Headers and libraries of the compiler, its command and the conformance suite."""
    files = {f"include/{path}": data
             for path, data in headers.of_sdk(top, headers.COMPILER).items()}
    abseil = pathlib.Path("/usr/include/absl")
    for path in abseil.rglob("*"):
        if path.is_file():
            files[f"include/abseil/{path.relative_to(abseil.parent)}"] = path.read_bytes()
    for file, system in COMPILER.items():
        own = top / "dist" / ("libpetrel_conformance.a" if file.endswith(".o") else file)
        joined = static_libraries.one_object if file.endswith(".o") else static_libraries.merged
        files[f"lib/{file}"] = joined([own, *(_SYSTEM / each for each in system)])
    files["lib/libpetrel_abseil.a"] = static_libraries.merged(
        static_libraries.of_package("libabsl-dev", "libabsl_"))
    return files


def contents(top: pathlib.Path, name: str, with_command: bool) -> Dict[str, bytes]:
    """The files of an archive by their paths in it."""
    version = facts.version_of(top)
    files = {f"include/{path}": data for path, data in headers.of_sdk(top).items()}
    if with_command:
        files.update(compiler(top))
    files.update(bazel_packages.files(top, version, with_command))
    for component in COMPONENTS:
        library = f"libpetrel_{component}.a"
        files[f"lib/{library}"] = (top / "dist" / library).read_bytes()
    for path, built in STRIPPED.items():
        if with_command or path != "bin/petrel":
            files[path] = facts.stripped(top / built)
    cmake = "lib/cmake/petrel"
    for file in ("petrel-config.cmake", "petrel-config-version.cmake"):
        files[f"{cmake}/{file}"] = facts.filled(HERE / f"{file}.in", version)
    files[f"{cmake}/petrel-registry.cmake"] = (HERE / "petrel-registry.cmake").read_bytes()
    java = top / "extension/java"
    for path in [java / "petrel_jni.c", *sorted(java.glob("src/io/petrel/*.java"))]:
        files[f"share/petrel/java/{path.relative_to(java)}"] = path.read_bytes()
    swift = top / "extension/swift"
    for path in [swift / "Package.swift", *sorted(swift.glob("Sources/*/*")),
                 *sorted(swift.glob("Tests/*/*"))]:
        files[f"share/petrel/swift/{path.relative_to(swift)}"] = path.read_bytes()
    files["lib/pkgconfig/petrel.pc"] = facts.filled(HERE / "petrel.pc.in", version)
    libraries = notice.libraries((top / "NOTICE").read_text(), with_command)
    if with_command:
        libraries.append(notice.GOOGLETEST)
    return described.described(top, name, files, libraries)


def symbols(top: pathlib.Path) -> Dict[str, bytes]:
    """The files of the archive for debuggers."""
    return {f"lib/debug/{path}": data
            for path, data in (facts.symbols(top / built) for built in STRIPPED.values())}


def write_wheel(top: pathlib.Path, folder: pathlib.Path, whole: Dict[str, bytes]) -> pathlib.Path:
    """The package petrel_runtime, with the library and the command of an archive."""
    version = facts.version_of(top)
    licences = facts.licences(top, notice.libraries((top / "NOTICE").read_text(), True))
    library, command = (machine.target(top / path)
                        for path in ("extension/c_api/libpetrel.so", "extension/cli/petrel"))
    tag = f"py3-none-{max(library, command).platform}"
    files = runtime_wheel.contents(top, version, tag, whole["lib/libpetrel.so"], licences,
                                   whole["bin/petrel"])
    return wheel_file.write(folder, "petrel_runtime", version, tag, files,
                            programs={runtime_wheel.PROGRAM})


def main() -> None:
    folder = output_folder.from_arguments("Writes the SDK.")
    top = HERE.parent
    target = f"{facts.version_of(top)}-linux-{platform.machine()}"
    written = []
    whole = contents(top, f"petrel-{target}", True)
    runtime = contents(top, f"petrel-runtime-{target}", False)
    for name, files in ((f"petrel-{target}", whole), (f"petrel-runtime-{target}", runtime),
                        (f"petrel-symbols-{target}", symbols(top))):
        written.append(folder / f"{name}.tar.gz")
        archive_file.write(written[-1], archive_file.packed(name, files))
    written.append(write_wheel(top, folder, whole))
    if aar_file.is_built(top):
        written.append(aar_file.write(top, folder))
    archive_file.write_sums(folder, "SHA256SUMS", written)
    for path in written:
        print(path)


if __name__ == "__main__":
    main()
