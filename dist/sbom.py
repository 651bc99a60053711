# SPDX-License-Identifier: Apache-2.0
"""A bill of materials as SPDX 2.3 in JSON: what is in an archive, and of whom.

    text = sbom.document("petrel-0.1.0-linux-x86_64", "0.1.0", files, libraries, versions)

Equal archives have equal bills: there is no date but a fixed one, and the name space is
named by the files' digests.
"""

import hashlib
import json
import re
from typing import Any, Dict, List

import notice

# Of what a compiler brings.
_REGISTRIES = {"ziglang": "pypi", "android-ndk": "generic"}

_NO_DATE = "1980-01-01T00:00:00Z"


def _package(identifier: str, name: str, version: str, licence: str) -> Dict[str, Any]:
    return {
        "SPDXID": f"SPDXRef-{identifier}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def _relation(first: str, kind: str, second: str) -> Dict[str, str]:
    return {"spdxElementId": f"SPDXRef-{first}", "relationshipType": kind,
            "relatedSpdxElement": f"SPDXRef-{second}"}


def document(name: str, version: str, files: Dict[str, bytes], libraries: List[notice.Library],
             versions: Dict[str, str]) -> bytes:
    """The bill of an archive with these files, linked with these libraries."""
    packages = [_package("petrel", "petrel", version, "Apache-2.0")]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-petrel"}]
    for library in libraries:
        identifier = re.sub(r"[^A-Za-z0-9.-]", "-", library.name)
        package = _package(identifier, library.package, versions[library.name], library.licence)
        is_from_debian = library.is_built or library.is_debian
        registry = "deb/debian" if is_from_debian else _REGISTRIES[library.package]
        package["externalRefs"] = [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:{registry}/{library.package.split()[0]}"
                                f"@{versions[library.name]}",
        }]
        packages.append(package)
        relations.append(_relation("petrel", "STATIC_LINK", identifier))
    entries = []
    for number, path in enumerate(sorted(files)):
        entries.append({
            "SPDXID": f"SPDXRef-file-{number}",
            "fileName": f"./{path}",
            "checksums": [
                {"algorithm": kind.upper(),
                 "checksumValue": hashlib.new(kind, files[path]).hexdigest()}
                for kind in ("sha1", "sha256")
            ],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
        })
        relations.append(_relation("petrel", "CONTAINS", f"file-{number}"))
    digest = hashlib.sha256(json.dumps(entries).encode()).hexdigest()
    return (json.dumps({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest}",
        "creationInfo": {"created": _NO_DATE, "creators": ["Tool: petrel-dist"]},
        "packages": packages,
        "files": entries,
        "relationships": relations,
    }, indent=1) + "\n").encode()
