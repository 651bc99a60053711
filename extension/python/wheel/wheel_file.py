# SPDX-License-Identifier: Apache-2.0
"""Wheels as files, packed by the tool `wheel` of PyPA, which Debian has as python3-wheel.

    path = wheel_file.write(folder, "petrel", "0.1.0", "cp311-cp311-linux_x86_64",
                            {"petrel/__init__.py": b"...", ...})

It names the file, records the digests of what is in it, and packs. Equal contents give
equal bytes. The file appears complete or not at all.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Container, Dict

# The first day that a zip can name, as all files of a wheel have it.
_NO_DATE = "315532800"


def write(folder: pathlib.Path, name: str, version: str, tag: str, files: Dict[str, bytes],
          programs: Container[str] = ()) -> pathlib.Path:
    """The path of the wheel of `files`, which lack its record; `programs` can be run."""
    wheel = f"{name}-{version}-{tag}.whl"
    # In `folder`, so that what is packed can be renamed to where it belongs.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".wheel") as work:
        tree, packed = pathlib.Path(work, "tree"), pathlib.Path(work, "packed")
        packed.mkdir()
        for path, data in files.items():
            to = tree / path
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            # The packer takes modes from the files, whatever the user's mask is.
            to.chmod(0o755 if ".so" in to.name or path in programs else 0o644)
        # -I: a file called wheel.py beside the caller is not the packer.
        done = subprocess.run([sys.executable, "-I", "-m", "wheel", "pack", tree, "-d", packed],
                              env={**os.environ, "SOURCE_DATE_EPOCH": _NO_DATE},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode or not (packed / wheel).exists():
            raise SystemExit(f"wheel: {wheel} cannot be packed: {done.stdout.strip()}")
        (packed / wheel).chmod(0o644)
        os.replace(packed / wheel, folder / wheel)
    return folder / wheel
