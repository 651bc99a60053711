# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for other machines, and runs programs with it.

    machines.py ZIG [--twice] [OPTION of Bazel...] [NAME...]

Programs are those of test/models with the inputs and outputs that eager PyTorch gave,
exported here for XNNPACK and for kernels alone. A C app that is compiled for the machine runs
them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "dist"))
import binary_file  # noqa: E402: it is where the SDK is made

MODELS = TREE / "test/models/fixtures/torch_2_13"
INTERFACE_TESTS = ("petrel_test", "data_test")
STARTUP = [word for word in sys.argv[2:] if word.startswith("--") and word != "--twice"]


# By name: the program, and for each input its file and sizes.
Programs = Dict[str, Tuple[pathlib.Path, List[object]]]


class Machine(NamedTuple):
    """What a configuration of the build is for."""
    config: str
    target: str   # as zig names it
    platform: str  # in the names of files
    run: Optional[Tuple[str, ...]]  # in front of a program; None: it cannot be run here
    how: str = "linked only"

    @property
    def system(self) -> str:
        return self.target.split("-")[1].split(".")[0]

    @property
    def library(self) -> str:
        return {"windows": "bin/petrel.dll", "macos": "lib/libpetrel.dylib"}.get(
            self.system, "lib/libpetrel.so")


_MUSL_ARM64 = os.environ.get("PETREL_MUSL_ARM64", "") + "/lib/ld-musl-aarch64.so.1"

MACHINES = {
    "linux_x86_64": Machine("zig_x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", (),
                            "natively"),
    "linux_arm64": Machine("zig_arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64",
                           ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"), "under qemu"),
    "musl_x86_64": Machine("zig_musl_x86_64", "x86_64-linux-musl", "musllinux_1_1_x86_64",
                           ("/lib/ld-musl-x86_64.so.1",), "natively, with Debian's musl"),
    "musl_arm64": Machine("zig_musl_arm64", "aarch64-linux-musl", "musllinux_1_1_aarch64",
                          ("qemu-aarch64", _MUSL_ARM64), "under qemu, with Debian's musl"),
    "windows_x86_64": Machine("zig_windows_x86_64", "x86_64-windows-gnu", "windows_x86_64",
                              ("wine",), "under wine"),
    "windows_arm64": Machine("zig_windows_arm64", "aarch64-windows-gnu", "windows_arm64", None),
    "macos_x86_64": Machine("zig_macos_x86_64", "x86_64-macos.11.0", "macos_11_0_x86_64", None),
    "macos_arm64": Machine("zig_macos_arm64", "aarch64-macos.11.0", "macos_11_0_arm64", None),
}


class Failed(Exception):
    """What did not hold."""


def done(*words: object, **more: object) -> str:
    result = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False, **more)
    if result.returncode:
        raise Failed(f"{words[0]} ended with {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def bazel(*words: object) -> None:
    done(TREE / "bazelw", *STARTUP, *words, cwd=TREE)


def written(machine: Machine, folder: pathlib.Path) -> pathlib.Path:
    """The archive, unpacked; its names and digests are looked at on the way."""
    bazel("run", f"--config={machine.config}", "//dist:c_library", "--", "--output-dir", folder)
    done("sha256sum", "--check", "--strict", f"SHA256SUMS-{machine.platform}", cwd=folder)
    archives = list(folder.glob(f"petrel-c-*-{machine.platform}.tar.gz"))
    if len(archives) != 1:
        raise Failed(f"{folder} has no archive for {machine.platform}")
    if machine.system == "linux" and \
            not list(folder.glob(f"petrel_runtime-*-py3-none-{machine.platform}.whl")):
        raise Failed(f"{folder} has no wheel for {machine.platform}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder)
    prefix = folder / archives[0].name[:-len(".tar.gz")]
    done("sha256sum", "--check", "--strict", "share/petrel/SHA256SUMS", cwd=prefix)
    return prefix


def shown_symbols(machine: Machine, library: pathlib.Path) -> List[str]:
    """What can be linked to, without what a system puts before it."""
    if machine.system == "windows":
        return binary_file.windows_exports(library.read_bytes())
    if machine.system == "macos":
        # zig's linker shows two names of its own.
        return [name for name in binary_file.macos_exports(library.read_bytes())
                if name not in ("_mh_dylib_header", "__dso_handle")]
    lines = [line.split() for line in done("readelf", "--wide", "--dyn-syms", library).splitlines()]
    # The name of a version is a symbol, too.
    return [words[7].split("@")[0] for words in lines
            if len(words) > 7 and words[6] not in ("UND", "ABS") and words[3] in ("FUNC", "OBJECT")]


# What a system has from its first day on.
OF_SYSTEMS = {
    "gnu": r"(libc|libm|libpthread|libdl|librt)[.]so[.][0-9]|ld-linux-.*[.]so[.][0-9]",
    "musl": r"libc[.]so",
    "windows": r"(kernel32|advapi32|bcrypt|ntdll)[.]dll|api-ms-win-(crt|core)-[-a-z0-9]+[.]dll",
    "macos": r"/usr/lib/libSystem[.]B[.]dylib",
}


def needed(machine: Machine, library: pathlib.Path) -> List[str]:
    """The libraries that it is loaded with."""
    if machine.system == "windows":
        return binary_file.windows_imports(library.read_bytes())
    if machine.system == "macos":
        return binary_file.macos_imports(library.read_bytes())
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]",
                      done("readelf", "--wide", "--dynamic", library))


def check_needs(machine: Machine, library: pathlib.Path) -> None:
    """The system's own alone; the names of the files tell the oldest version of it."""
    kind = machine.system if machine.system != "linux" else \
        machine.target.split("-")[2].split(".")[0]
    foreign = [name for name in needed(machine, library)
               if not re.fullmatch(OF_SYSTEMS[kind], name, re.IGNORECASE)]
    if foreign:
        raise Failed(f"{machine.library} needs {', '.join(foreign)}")


def interface() -> List[str]:
    """The functions of petrel.h."""
    text = (TREE / "extension/c_api/petrel.h").read_text()
    return sorted(re.findall(r"PETREL_EXPORT [^;(]*?(petrel_\w+)\(", text))


def check_symbols(machine: Machine, prefix: pathlib.Path) -> None:
    """All of the interface is there to be seen and nothing else."""
    shown, expected = shown_symbols(machine, prefix / machine.library), interface()
    if sorted(shown) != expected:
        raise Failed(f"{machine.library} shows {sorted(set(shown) - set(expected))} and lacks "
                     f"{sorted(set(expected) - set(shown))}")


def programs(work: pathlib.Path) -> Programs:
    """Exported by this machine's command."""
    found = {}
    for archive in sorted(MODELS.glob("*.pt2")):
        name = archive.stem
        inputs = sorted(MODELS.glob(f"{name}.input_*.npy"))
        # One is there to be refused; others have no call on record.
        if name == "unsupported_ops" or not inputs or \
                not (MODELS / f"{name}.output_0.npy").exists():
            continue
        raw = []
        for path in inputs:
            values = numpy.load(path)
            file = work / f"{path.stem}.raw"
            file.write_bytes(numpy.ascontiguousarray(values).tobytes())
            raw += [file, "x".join(map(str, values.shape))]
        for backend in ("xnnpack", "none"):
            program = work / f"{name}_{backend}.pte"
            done(TREE / "bazel-bin/extension/cli/petrel", "export", archive, "-o", program,
                 "--backend", backend)
            found[f"{name} {backend}"] = (program, raw)
    return found


def compare(name: str, out: pathlib.Path) -> None:
    """With what eager PyTorch gave."""
    paths = sorted(MODELS.glob(f"{name}.output_*.npy"))
    # Inputs that the model writes come before what it returns.
    before = len(list(out.parent.glob(f"{out.name}.*"))) - len(paths)
    for path in paths:
        expected = numpy.load(path)
        data = pathlib.Path(f"{out}.{before + int(path.stem.rsplit('_', 1)[1])}").read_bytes()
        got = numpy.frombuffer(data, expected.dtype)
        if got.size != expected.size:
            raise Failed(f"{path.stem} has {got.size} numbers, must have {expected.size}")
        got = got.reshape(expected.shape)
        if expected.dtype.kind != "f":
            if not numpy.array_equal(got, expected):
                raise Failed(f"{path.stem} differs")
        elif not numpy.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise Failed(f"{path.stem} differs by {numpy.nanmax(numpy.abs(got - expected))}")


def built_app(machine: Machine, zig: str, prefix: pathlib.Path, source: str,
              *more: object) -> pathlib.Path:
    """A program in C with the library: beside it for Windows, elsewhere it knows the way."""
    app = prefix / machine.library
    app = app.parent / f"{pathlib.Path(source).stem}{'.exe' if machine.system == 'windows' else ''}"
    way = [] if machine.system == "windows" else [f"-Wl,-rpath,{prefix}/lib"]
    done(zig, "cc", "-target", machine.target, "-std=c99", "-O1", TREE / source, "-o", app,
         f"-I{prefix}/include", f"-L{prefix}/lib", "-lpetrel", *way, *more)
    return app


def check_built_anew(machine: Machine, first: pathlib.Path, work: pathlib.Path) -> None:
    """The bytes are those of a copy of the sources that is built elsewhere, without a cache."""
    tree, base, out = work / "elsewhere", work / "base", work / "again"
    listed = done("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=TREE)
    for name in listed.splitlines():
        if (TREE / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, tree / name)
    command = (tree / "bazelw", f"--output_base={base}")
    done(*command, "run", f"--config={machine.config}", "--disk_cache=", "//dist:c_library", "--",
         "--output-dir", out, cwd=tree)
    done(*command, "shutdown", cwd=tree)
    sums = f"SHA256SUMS-{machine.platform}"
    if (first / sums).read_text() != (out / sums).read_text():
        raise Failed(f"{out} has other bytes than {first}")
    done("chmod", "-R", "u+w", base)
    shutil.rmtree(base)


def run_all(machine: Machine, zig: str, prefix: pathlib.Path,
            all_programs: Programs) -> int:
    """How many programs ran, all rightly."""
    app = built_app(machine, zig, prefix, "test/sdk/raw_app.c")
    if machine.run is None:
        return 0
    for name, (program, inputs) in all_programs.items():
        out = prefix / name.replace(" ", "_")
        done(*machine.run, app, program, out, *inputs)
        compare(name.split()[0], out)
    return len(all_programs)


def interface_files(where: pathlib.Path) -> pathlib.Path:
    """What the tests of the C interface read, built here, below one folder."""
    for name in ("extension/c_api", "test/quantized/programs", "examples/quickstart"):
        (where / name).mkdir(parents=True)
        # Bazel has a folder only for what it made.
        for top in (TREE, TREE / "bazel-bin"):
            for path in (top / name).glob("*"):
                if path.suffix in (".pte", ".ptd", ".bin"):
                    shutil.copy(path, where / name)
    return where


def run_interface_tests(machine: Machine, zig: str, prefix: pathlib.Path,
                        files: pathlib.Path) -> None:
    """The tests of the C interface, which elsewhere run as part of //extension/c_api."""
    for name in INTERFACE_TESTS:
        app = built_app(machine, zig, prefix, f"extension/c_api/{name}.c", f"-I{TREE}", "-lpthread")
        done(*machine.run, app, cwd=files, env={**os.environ, "TEST_TMPDIR": str(prefix)})


def run_platform_test(machine: Machine, zig: str, prefix: pathlib.Path) -> None:
    """That of runtime/platform, over its files for the system and Debian's googletest."""
    app = prefix / "system_test.exe"
    sources = [path for path in (TREE / "runtime/platform").glob("*_windows.cc")
               if not path.name.startswith(("arm64_", "fork_"))]
    done(zig, "c++", "-target", machine.target, "-std=c++17", "-O1", f"-I{TREE}",
         "-I/usr/src/googletest/googletest/include", "-I/usr/src/googletest/googletest",
         "/usr/src/googletest/googletest/src/gtest-all.cc",
         "/usr/src/googletest/googletest/src/gtest_main.cc",
         TREE / "runtime/platform/system_test.cc", TREE / "runtime/platform/windows_text.cc",
         TREE / "runtime/platform/page_advice_none.cc", *sources, "-lbcrypt", "-o", app)
    where = prefix / "platform"
    where.mkdir()
    done(*machine.run, app, cwd=where, env={**os.environ, "TEST_TMPDIR": str(where)})


class Row(NamedTuple):
    """What held for one machine."""
    name: str
    platform: str
    size: int
    how: str


def tested(name: str, zig: str, work: pathlib.Path, all_programs: Programs,
           files: pathlib.Path) -> Row:
    machine = MACHINES[name]
    (work / name).mkdir()
    prefix = written(machine, work / name)
    check_symbols(machine, prefix)
    check_needs(machine, prefix / machine.library)
    ran = run_all(machine, zig, prefix, all_programs)
    how = machine.how
    if machine.run is not None:
        how = f"{ran} programs give what eager PyTorch gave, {how}"
    if machine.system == "windows" and machine.run is not None:
        run_interface_tests(machine, zig, prefix, files)
        run_platform_test(machine, zig, prefix)
        how += "; the tests of the C interface and of //runtime/platform pass, too"
    if "--twice" in sys.argv:
        check_built_anew(machine, work / name, work / name)
        how += "; built anew in another folder it has the same bytes"
    return Row(name, machine.platform, (prefix / machine.library).stat().st_size, how)


def main() -> int:
    zig = sys.argv[1]
    names = [word for word in sys.argv[2:] if not word.startswith("--")] or list(MACHINES)
    unknown = [name for name in names if name not in MACHINES]
    if unknown:
        print(f"machines: there is no {unknown[0]}; there are {', '.join(MACHINES)}",
              file=sys.stderr)
        return 2
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        # Before other configurations: what Bazel built last is where its links lead.
        bazel("build", "//extension/cli:petrel",
              *(f"//extension/c_api:{name}" for name in INTERFACE_TESTS))
        all_programs = programs(work)
        files = interface_files(work / "files")
        os.environ.update(WINEPREFIX=str(work / "wine"), WINEDEBUG="-all")
        for name in names:
            try:
                rows.append(tested(name, zig, work, all_programs, files))
                print(f"passed: {name}", flush=True)
            except (Failed, OSError) as why:
                print(f"FAILED: {name}: {why}", file=sys.stderr, flush=True)
                failed += 1
    print("| machine | platform | bytes | how it is tested |\n|---|---|---:|---|")
    for row in rows:
        print(f"| {row.name} | {row.platform} | {row.size} | {row.how} |")
    print(f"{len(rows)} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
