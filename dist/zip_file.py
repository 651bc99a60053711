# SPDX-License-Identifier: Apache-2.0
"""Zip archives that have the same bytes for the same contents.

    data = zip_file.packed({"classes.jar": b"...", ...})
"""

import io
import zipfile
from typing import Dict


def packed(files: Dict[str, bytes]) -> bytes:
    """The files in the order in which they are given, without dates."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | (0o755 if path.endswith(".so") else 0o644)) << 16
            archive.writestr(entry, data)
    return out.getvalue()
