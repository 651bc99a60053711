# SPDX-License-Identifier: Apache-2.0
"""The files of an archive with what tells of them: licences, a bill of materials, digests.

    files = described.described(top, "petrel-0.1.0", {"lib/libpetrel.so": b"..."}, libraries)
"""

import pathlib
from typing import Dict, List

import archive_file
import facts
import notice
import sbom


def described(top: pathlib.Path, name: str, files: Dict[str, bytes],
              libraries: List[notice.Library]) -> Dict[str, bytes]:
    """By their paths in the archive `name`, which is linked with `libraries`."""
    files = dict(files)
    for file, text in facts.licences(top, libraries).items():
        files[f"share/doc/petrel/{file}"] = text
    files["share/petrel/petrel.spdx.json"] = sbom.document(name, facts.version_of(top), files,
                                                           libraries,
                                                           facts.versions_of(top, libraries))
    files["share/petrel/SHA256SUMS"] = archive_file.sums_of(files)
    return files
