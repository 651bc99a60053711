# SPDX-License-Identifier: Apache-2.0
"""What a program or shared library runs on.

    machine.target(path)      Target(machine="aarch64", library="glibc", version=(2, 17))

    target.platform           "manylinux_2_17_aarch64", "windows_x86_64", "macos_11_0_arm64"

The version is the newest that the file has symbols of; musl has none.
"""

import pathlib
import re
import subprocess
from typing import NamedTuple, Tuple

import binary_file

_MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


class Target(NamedTuple):
    """A processor and a C library, as wheels name them."""
    machine: str
    library: str
    version: Tuple[int, int]

    @property
    def platform(self) -> str:
        """Of Linux the last part of a wheel's tag."""
        major, minor = self.version
        if self.library == "windows":
            return f"windows_{self.machine}"
        if self.library == "macos":
            return f"macos_{major}_{minor}_{self.machine}"
        kind = "manylinux" if self.library == "glibc" else "musllinux"
        return f"{kind}_{major}_{minor}_{self.machine}"


def target(path: pathlib.Path) -> Target:
    data = path.read_bytes()
    if binary_file.is_windows(data):
        return Target(binary_file.windows_processor(data), "windows", (0, 0))
    if binary_file.is_macos(data):
        return Target(binary_file.macos_processor(data), "macos", binary_file.macos_version(data))
    told = subprocess.run(["readelf", "--wide", "--file-header", "--dynamic", "--dyn-syms", path],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    machine = re.search(r"Machine: +(.*)", told)[1].strip()
    if machine not in _MACHINES:
        raise SystemExit(f"dist: {path} is for the processor '{machine}', must be for one of "
                         f"{', '.join(_MACHINES.values())}")
    if "[libc.so.6]" not in told:
        # The oldest that wheels can name, and the interface has not changed since.
        return Target(_MACHINES[machine], "musl", (1, 1))
    found = re.findall(r"@GLIBC_(\d+)\.(\d+)", told)
    return Target(_MACHINES[machine], "glibc",
                  max(((int(major), int(minor)) for major, minor in found), default=(2, 0)))
