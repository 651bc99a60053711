# SPDX-License-Identifier: Apache-2.0
"""The machines that the library of the C interface is built for, and how programs run on them.

    machine_list.MACHINES["linux_arm64"].run     ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
"""

import os
import pathlib
import subprocess
import tempfile
from typing import IO, NamedTuple, Optional, Tuple

TREE = pathlib.Path(__file__).resolve().parents[2]


class Machine(NamedTuple):
    """What a configuration of the build is for."""
    config: str
    target: str   # as zig names it
    platform: str  # in the names of files
    run: Optional[Tuple[str, ...]]  # in front of a program; None: it cannot be run here
    how: str = "linked only"

    @property
    def system(self) -> str:
        return self.target.split("-")[1].split(".")[0]

    @property
    def library(self) -> str:
        return {"windows": "bin/petrel.dll", "macos": "lib/libpetrel.dylib"}.get(
            self.system, "lib/libpetrel.so")


_MUSL_ARM64 = os.environ.get("PETREL_MUSL_ARM64", "") + "/lib/ld-musl-aarch64.so.1"

MACHINES = {
    "linux_x86_64": Machine("zig_x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", (),
                            "natively"),
    "linux_arm64": Machine("zig_arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64",
                           ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"), "under qemu"),
    "musl_x86_64": Machine("zig_musl_x86_64", "x86_64-linux-musl", "musllinux_1_1_x86_64",
                           ("/lib/ld-musl-x86_64.so.1",), "natively, with Debian's musl"),
    "musl_arm64": Machine("zig_musl_arm64", "aarch64-linux-musl", "musllinux_1_1_aarch64",
                          ("qemu-aarch64", _MUSL_ARM64), "under qemu, with Debian's musl"),
    "windows_x86_64": Machine("zig_windows_x86_64", "x86_64-windows-gnu", "windows_x86_64",
                              ("wine",), "under wine"),
    "windows_arm64": Machine("zig_windows_arm64", "aarch64-windows-gnu", "windows_arm64", None),
    "macos_x86_64": Machine("zig_macos_x86_64", "x86_64-macos.11.0", "macos_11_0_x86_64", None),
    "macos_arm64": Machine("zig_macos_arm64", "aarch64-macos.11.0", "macos_11_0_arm64", None),
}


class Failed(Exception):
    """What did not hold."""


def _kept() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")


def done(*words: object, **more: object) -> str:
    # Files and no pipes: what a program leaves running, as one does that starts wine, keeps
    # their ends open, and nobody would see that it has ended.
    with _kept() as output, _kept() as errors:
        try:
            result = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=errors, check=False, **more)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{' '.join(map(str, words))} took more than {late.timeout:.0f} s") from late
        output.seek(0)
        errors.seek(0)
        if result.returncode:
            raise Failed(f"{words[0]} ended with {result.returncode}: {errors.read()[-2000:]}")
        return output.read()


def ran(machine: Machine, *words: object, **more: object) -> str:
    """A program of the machine's. Under qemu one may take a minute, and none takes ten."""
    return done(*machine.run, *words, timeout=600, **more)
