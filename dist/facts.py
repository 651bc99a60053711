# SPDX-License-Identifier: Apache-2.0
"""What archives say of the tree and of the machine that builds them: versions, licences.

    facts.version_of(top)      "0.1.0"
"""

import pathlib
import re
import subprocess
import tempfile
from typing import Dict, List, Tuple

import notice


def version_of(top: pathlib.Path) -> str:
    text = (top / "runtime/core/version.h").read_text()
    return re.search(r'kVersion\[\] = "([^"]+)"', text)[1]


def _debian_version(package: str) -> str:
    """Of the first of the packages that a row of NOTICE names."""
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package.split()[0]],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or not done.stdout:
        raise SystemExit(f"dist: package {package} is not installed, so its version is not known")
    return done.stdout


def _source_version(top: pathlib.Path, package: str) -> str:
    for name in ("debian_sources", "zig_sources"):
        path = top.parent / name / f"{package}.version"
        if path.exists():
            return path.read_text().strip()
    raise SystemExit(f"dist: no sources of {package} were fetched, so their version is not known")


def versions_of(top: pathlib.Path, libraries: List[notice.Library]) -> Dict[str, str]:
    """By name."""
    versions = {}
    for library in libraries:
        if library.is_built:
            versions[library.name] = _source_version(top, library.package)
        elif library.is_debian:
            versions[library.name] = _debian_version(library.package)
        else:
            versions[library.name] = (top.parent / "zig/version").read_text().strip()
    return versions


def licences(top: pathlib.Path, libraries: List[notice.Library]) -> Dict[str, bytes]:
    """Texts by file name: ours, Debian's, and those of the compiler that brought others."""
    texts = {file: (top / file).read_bytes() for file in ("LICENSE", "NOTICE")}
    for library in libraries:
        package = library.package.split()[0]
        if library.is_debian:
            texts[f"{package}.txt"] = pathlib.Path("/usr/share/doc", package,
                                                   "copyright").read_bytes()
        elif not library.is_built:
            texts.update({path.name: path.read_bytes()
                          for path in (top.parent / "zig/licences").iterdir()
                          if path.stem != "mingw" or library.name == "mingw-w64"})
    return texts


def filled(path: pathlib.Path, version: str) -> bytes:
    """A template with the version in its place."""
    return path.read_text().replace("@version@", version).encode()


def stripped(path: pathlib.Path) -> bytes:
    """A program or shared library without the symbols that only its linker needed."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, path.name)
        subprocess.run(["strip", "--strip-unneeded", "-o", out, path], check=True)
        return out.read_bytes()


def symbols(path: pathlib.Path) -> Tuple[str, bytes]:
    """What stripped() takes away, and where debuggers look for it below lib/debug."""
    told = subprocess.run(["readelf", "--notes", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", told)
    if found is None:
        raise SystemExit(f"dist: {path} has no build ID, so nobody would find its symbols")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, path.name)
        subprocess.run(["objcopy", "--only-keep-debug", path, out], check=True)
        return f".build-id/{found[1]}/{found[2]}.debug", out.read_bytes()
