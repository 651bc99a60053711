# SPDX-License-Identifier: Apache-2.0
"""The package petrel_runtime as a wheel for every Python 3.

    runtime_wheel.contents(top, version, "py3-none-manylinux_2_34_x86_64", library, licences)

With the command it brings the verbs of `petrel` as well.
"""

import pathlib
import re
from typing import Dict, Optional

PROGRAM = "petrel_runtime/petrel"

_METADATA = """Metadata-Version: 2.1
Name: petrel-runtime
Version: {version}
Summary: Runs programs that Petrel or ExecuTorch compiled
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.8
Requires-Dist: numpy
Description-Content-Type: text/markdown

{description}
"""

_WHEEL = """Wheel-Version: 1.0
Generator: petrel
Root-Is-Purelib: false
Tag: {tag}
"""

_ENTRY_POINTS = """[console_scripts]
petrel = petrel_runtime._command:main
"""


def contents(top: pathlib.Path, version: str, wheel_tag: str, library: bytes,
             licences: Dict[str, bytes], command: Optional[bytes] = None) -> Dict[str, bytes]:
    """The files of the wheel by their paths in it; `licences` by file name."""
    package = top / "extension/python_runtime/petrel_runtime"
    files = {f"petrel_runtime/{path.name}": path.read_bytes() for path in package.iterdir()
             if path.suffix == ".py" or path.name == "py.typed"}
    files["petrel_runtime/libpetrel.so"] = library
    info = f"petrel_runtime-{version}.dist-info"
    for name, text in licences.items():
        files[f"{info}/licenses/{name}"] = text
    description = re.match(r'(?s).*?"""(.*?)"""',
                           files["petrel_runtime/__init__.py"].decode())[1]
    files[f"{info}/METADATA"] = _METADATA.format(version=version, description=description).encode()
    files[f"{info}/WHEEL"] = _WHEEL.format(tag=wheel_tag).encode()
    if command is None:
        del files["petrel_runtime/_command.py"]
    else:
        files[PROGRAM] = command
        files[f"{info}/entry_points.txt"] = _ENTRY_POINTS.encode()
    return files
