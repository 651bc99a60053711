# SPDX-License-Identifier: Apache-2.0
"""Static libraries of the system in the SDK, so that its users need not have them.

    static_libraries.merged([path, path])     one archive with the members of all
    static_libraries.one_object([path, path])   the same, of which everything is linked
    static_libraries.of_package("libabsl-dev", "libabsl_")     paths of a package's

The bytes of equal libraries are equal.
"""

import pathlib
import subprocess
import tempfile
from typing import List, Sequence


def of_package(package: str, prefix: str) -> List[pathlib.Path]:
    done = subprocess.run(["dpkg-query", "-L", package], stdout=subprocess.PIPE, text=True,
                          check=False)
    paths = sorted(pathlib.Path(line) for line in done.stdout.splitlines()
                   if line.endswith(".a") and pathlib.Path(line).name.startswith(prefix))
    if not paths:
        raise SystemExit(f"dist: package {package} has no library {prefix}*.a; install it")
    return paths


def merged(paths: Sequence[pathlib.Path]) -> bytes:
    """Members of equal names stay apart, as in one archive they may."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "merged.a")
        steps = [f"CREATE {out}", *(f"ADDLIB {path}" for path in paths), "SAVE", "END"]
        subprocess.run(["ar", "-DM"], input="\n".join(steps) + "\n", text=True, check=True)
        # A script of ar takes the dates of members as they are.
        subprocess.run(["objcopy", "--enable-deterministic-archives", out], check=True)
        return out.read_bytes()


def one_object(paths: Sequence[pathlib.Path]) -> bytes:
    """What tests need, which register themselves: of an archive a linker takes what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "one.o")
        subprocess.run(["ld", "-r", "--whole-archive", *paths, "-o", out], check=True)
        return out.read_bytes()
