# SPDX-License-Identifier: Apache-2.0
"""Writes the package petrel as a wheel.

    ./bazelw run //extension/python:wheel -- --output-dir dist
    PETREL_PYTHON=python3.13 ./bazelw run //extension/python:wheel -- --output-dir dist
    pip install dist/petrel-*.whl

The wheel is for the Python whose headers the package was compiled with, which need not be
the one that runs this. Shared libraries that not every Linux has are put into it, and the
licences of all that is inside. The bytes are the same for the same sources.
"""

import ast
import glob
import pathlib
import re
from typing import Dict, Iterable, Tuple

import elf
import output_folder
import wheel_file

# What a Linux with a Python brings along; auditwheel allows no others.
_OF_THE_SYSTEM = ("ld-linux", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.",
                  "libstdc++.", "libz.")

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

# Of NOTICE: the libraries in programs, by name and Debian package.
_PROGRAMS = re.compile(r"(?s)  In programs:(.*?)  In tests and benchmarks")
_ROW = re.compile(r"^    \w+ {2,}(\S+)", re.M)

# The root of the runfiles of this workspace.
_ROOT = pathlib.Path(__file__).absolute().parents[3]
_PACKAGE = _ROOT / "extension/python/petrel"


def _python() -> Tuple[int, int]:
    """The version whose headers the module was compiled with."""
    text = (_ROOT.parent / "python_headers/python3/patchlevel.h").read_text()
    major, minor = (int(re.search(rf"#define PY_{part}_VERSION\s+(\d+)", text)[1])
                    for part in ("MAJOR", "MINOR"))
    return major, minor


def _version() -> str:
    text = (_ROOT / "runtime/core/version.h").read_text()
    return re.search(r'kVersion\[\] = "([^"]+)"', text)[1]


def _path_of(library: str, machine: str) -> pathlib.Path:
    multiarch = f"{machine}-linux-gnu"
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
            found[name] = _path_of(name, elf.machine(module))
            open_ends.append(found[name])
    return found


def _licences(libraries: Iterable[str]) -> Dict[str, bytes]:
    """Texts by file name: ours, and those of what is in programs and of shared libraries."""
    notice = (_ROOT / "NOTICE").read_text()
    texts = {name: (_ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE")}
    packages = [*_ROW.findall(_PROGRAMS.search(notice)[1]), "g++"]
    paths = [pathlib.Path("/usr/share/doc", package, "copyright") for package in packages]
    for name in libraries:
        # libabsl_base.so.1 comes from a package libabsl...
        library = re.split(r"\.so|_", name)[0]
        paths += map(pathlib.Path, glob.glob(f"/usr/share/doc/{library}*/copyright"))
    texts.update({f"{path.parent.name}.txt": path.read_bytes() for path in paths})
    return texts


def contents() -> Tuple[str, Dict[str, bytes]]:
    """The tag of the wheel, and its files by their paths in it, without RECORD."""
    files: Dict[str, bytes] = {}
    for path in _PACKAGE.iterdir():
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[f"petrel/{path.name}"] = path.read_bytes()
    module, program = _PACKAGE / "_petrel.so", _ROOT / "extension/cli/stripped/petrel"
    libraries = _libraries(module)
    major, minor = _python()
    tag = "cp{0}{1}-cp{0}{1}-{2}".format(major, minor,
                                         elf.platform([module, program, *libraries.values()]))
    suffix = f".cpython-{major}{minor}-{elf.machine(module)}-linux-gnu.so"
    files[f"petrel/_petrel{suffix}"] = module.read_bytes()
    info = f"petrel-{_version()}.dist-info"
    for name, path in libraries.items():
        files[f"petrel/_libs/{name}"] = path.read_bytes()
    for name, text in _licences(libraries).items():
        files[f"{info}/licenses/{name}"] = text
    files[_PROGRAM] = program.read_bytes()
    files[f"{info}/entry_points.txt"] = _ENTRY_POINTS.encode()
    described = ast.get_docstring(ast.parse(files["petrel/__init__.py"]), clean=False)
    files[f"{info}/METADATA"] = _METADATA.format(version=_version(), python=f"=={major}.{minor}.*",
                                                 description=described).encode()
    files[f"{info}/WHEEL"] = _WHEEL.format(tag=tag).encode()
    return tag, files


def write(folder: pathlib.Path) -> pathlib.Path:
    tag, files = contents()
    return wheel_file.write(folder, "petrel", _version(), tag, files, programs={_PROGRAM})


def main() -> None:
    print(write(output_folder.from_arguments("Writes the package petrel as a wheel.")))


if __name__ == "__main__":
    main()
