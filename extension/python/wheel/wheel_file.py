# SPDX-License-Identifier: Apache-2.0
"""Wheels as files: a zip with a record of what is in it.

    path = wheel_file.write(folder, "petrel", "0.1.0", "cp311-cp311-linux_x86_64",
                            {"petrel/__init__.py": b"...", ...})

Equal contents give equal bytes. The file appears complete or not at all.
"""

import base64
import hashlib
import os
import pathlib
import tempfile
import zipfile
from typing import Container, Dict


def write(folder: pathlib.Path, name: str, version: str, tag: str, files: Dict[str, bytes],
          programs: Container[str] = ()) -> pathlib.Path:
    """The path of the wheel of `files`, which lack its record; `programs` can be run."""
    info = f"{name}-{version}.dist-info"
    record = ""
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest())
        record += f"{path},sha256={digest.rstrip(b'=').decode()},{len(files[path])}\n"
    record += f"{info}/RECORD,,\n"
    wheel_path = folder / f"{name}-{version}-{tag}.whl"
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".whl.part")
    try:
        with os.fdopen(handle, "wb") as out, zipfile.ZipFile(out, "w",
                                                             zipfile.ZIP_DEFLATED) as wheel:
            # The record comes last.
            for path in [*sorted(files), f"{info}/RECORD"]:
                entry = zipfile.ZipInfo(path)
                entry.compress_type = zipfile.ZIP_DEFLATED
                mode = 0o755 if ".so" in path or path in programs else 0o644
                entry.external_attr = (0o100000 | mode) << 16
                wheel.writestr(entry, files.get(path, record.encode()))
        os.chmod(temporary, 0o644)
        os.replace(temporary, wheel_path)
    except BaseException:
        os.unlink(temporary)
        raise
    return wheel_path
