# SPDX-License-Identifier: Apache-2.0
"""Writes the package petrel as a wheel.

    ./bazelw run //extension/python:wheel -- --output-dir dist
    pip install dist/petrel-*.whl

Needs nothing but Python: no network, no build front end. Shared libraries that
not every Linux has are put into the wheel, with their licences. The bytes are
the same for the same sources.
"""

import glob
import pathlib
import re
import sys
import sysconfig
from typing import Dict

import elf
import output_folder
import petrel
import wheel_file

# What a Linux with a Python that has ssl brings along.
_OF_THE_SYSTEM = ("ld-linux", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.",
                  "libstdc++.", "libz.", "libcrypto.")

_METADATA = """Metadata-Version: 2.1
Name: petrel
Version: {version}
Summary: Compiles PyTorch programs and runs them, without torch
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Requires-Python: {python}
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
petrel = petrel._command:main
"""
_PROGRAM = "petrel/petrel"


def tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _path_of(library: str) -> pathlib.Path:
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    for folder in (f"/usr/lib/{multiarch}", f"/lib/{multiarch}", "/usr/lib", "/usr/local/lib"):
        path = pathlib.Path(folder, library)
        if path.exists():
            return path
    raise SystemExit(f"wheel: {library}, which the package needs, is not installed")


def _libraries(module: pathlib.Path) -> Dict[str, pathlib.Path]:
    """What the module needs and systems may lack, by name; what those need, too."""
    found: Dict[str, pathlib.Path] = {}
    open_ends = [module]
    while open_ends:
        for name in elf.needed(open_ends.pop()):
            if name.startswith(_OF_THE_SYSTEM) or name in found:
                continue
            found[name] = _path_of(name)
            open_ends.append(found[name])
    return found


def contents() -> Dict[str, bytes]:
    """The files of the wheel by their paths in it, without RECORD."""
    package = pathlib.Path(petrel.__file__).parent
    files: Dict[str, bytes] = {}
    for path in package.iterdir():
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[f"petrel/{path.name}"] = path.read_bytes()
    module = package / "_petrel.so"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    files[f"petrel/_petrel{suffix}"] = module.read_bytes()
    info = f"petrel-{petrel.__version__}.dist-info"
    for name, path in _libraries(module).items():
        files[f"petrel/_libs/{name}"] = path.read_bytes()
        # libabsl_base.so.1 comes from a package libabsl...
        library = re.split(r"\.so|_", name)[0]
        for licence in glob.glob(f"/usr/share/doc/{library}*/copyright"):
            stem = pathlib.Path(licence).parent.name
            files[f"{info}/licenses/{stem}.txt"] = pathlib.Path(licence).read_bytes()
    # The root of the runfiles of this workspace: extension/python/petrel is in it.
    root = package.parents[2]
    for name in ("LICENSE", "NOTICE"):
        files[f"{info}/licenses/{name}"] = (root / name).read_bytes()
    files[_PROGRAM] = (root / "extension/cli/stripped/petrel").read_bytes()
    files[f"{info}/entry_points.txt"] = _ENTRY_POINTS.encode()
    major, minor = sys.version_info[:2]
    files[f"{info}/METADATA"] = _METADATA.format(version=petrel.__version__,
                                                 python=f"=={major}.{minor}.*",
                                                 description=petrel.__doc__).encode()
    files[f"{info}/WHEEL"] = _WHEEL.format(tag=tag()).encode()
    return files


def write(folder: pathlib.Path) -> pathlib.Path:
    return wheel_file.write(folder, "petrel", petrel.__version__, tag(), contents(),
                            programs={_PROGRAM})


def main() -> None:
    print(write(output_folder.from_arguments("Writes the package petrel as a wheel.")))


if __name__ == "__main__":
    main()
