# SPDX-License-Identifier: Apache-2.0
"""Archives and their checksums as files: the same bytes for the same contents.

    archive_file.write(path, archive_file.packed("petrel-0.1.0", {"lib/libpetrel.so": b"..."}))

A file appears complete or not at all.
"""

import gzip
import hashlib
import io
import os
import pathlib
import tarfile
import tempfile
from typing import Dict, Iterable


def packed(name: str, files: Dict[str, bytes]) -> bytes:
    """An archive with one folder `name`."""
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(files[path])
            is_program = path.startswith(("bin/", "libexec/")) or path.endswith((".so", ".dylib"))
            entry.mode = 0o755 if is_program else 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    return gzip.compress(tape.getvalue(), compresslevel=6, mtime=0)


def sums_of(files: Dict[str, bytes]) -> bytes:
    """What sha256sum --check reads."""
    return "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n"
                   for path in sorted(files)).encode()


def write(path: pathlib.Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_sums(folder: pathlib.Path, name: str, paths: Iterable[pathlib.Path]) -> None:
    """The digests of files in `folder`, in their order."""
    write(folder / name, "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                                 for path in paths).encode())
