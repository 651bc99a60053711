# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for other machines, and runs programs with it.

    machines.py ZIG [--twice] [--library] [OPTION of Bazel...] [NAME...]

Programs are those of test/models with the inputs and outputs that eager PyTorch gave,
exported here for XNNPACK and for kernels alone. A C app that is compiled for the machine runs
them; where the archive has the command, it makes and runs them, too.
"""

import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import time
from contextlib import ExitStack
from subprocess import CalledProcessError
from typing import NamedTuple

import windows_session
from binary_checks import check_needs, check_symbols
from machine_list import MACHINES, TREE, Failed, Machine, done, ran
from program_checks import Programs, built_app, check_command, programs, run_all

INTERFACE_TESTS = ("petrel_test", "data_test", "names_test")
OWN = ("--twice", "--library")
STARTUP = [word for word in sys.argv[2:] if word.startswith("--") and word not in OWN]


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


def library_alone(machine: Machine, folder: pathlib.Path) -> pathlib.Path:
    """What of the archive an app needs, without what takes longest to build, the command."""
    if machine.system == "windows":
        raise Failed("--library is not for Windows, whose apps link what //dist:c_library makes")
    bazel("build", f"--config={machine.config}", "//extension/c_api:shared_library")
    name = pathlib.Path(machine.library).name
    for source, to in ((TREE / "extension/c_api/petrel.h", folder / "include/petrel"),
                       (TREE / "bazel-bin/extension/c_api" / name, folder / "lib")):
        to.mkdir(parents=True)
        shutil.copy(source, to)
    return folder


def check_bill(prefix: pathlib.Path) -> None:
    """The bill of materials names the libraries of the command where there is one, as sources
    that zig compiled."""
    bill = json.loads((prefix / "share/petrel/petrel.spdx.json").read_text())
    named = {package["name"] for package in bill["packages"]}
    of_command = {"abseil", "rapidjson", "zlib", "libcli11-dev"}
    expected = of_command if (prefix / "bin/petrel").exists() else set()
    if not {"xnnpack", "ziglang"} <= named or named & of_command != expected:
        raise Failed(f"the bill of materials names {', '.join(sorted(named))}")


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
        ran(machine, app, cwd=files, env={**os.environ, "TEST_TMPDIR": str(prefix)})


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
    ran(machine, app, cwd=where, env={**os.environ, "TEST_TMPDIR": str(where)})


class Row(NamedTuple):
    """What held for one machine."""
    name: str
    platform: str
    library: int  # bytes
    command: str  # bytes, where there is one
    how: str


def tested(name: str, zig: str, work: pathlib.Path, command: pathlib.Path,
           all_programs: Programs, files: pathlib.Path) -> Row:
    machine = MACHINES[name]
    (work / name).mkdir()
    alone = "--library" in sys.argv
    start = time.monotonic()
    prefix = (library_alone if alone else written)(machine, work / name)
    print(f"built: {name}, {time.monotonic() - start:.0f} s", flush=True)
    check_symbols(machine, prefix)
    check_needs(machine, prefix / machine.library)
    if not alone:
        check_bill(prefix)
    ran = run_all(machine, zig, prefix, all_programs)
    how = machine.how
    if machine.run is not None:
        how = f"{ran} programs give what eager PyTorch gave, {how}"
    if check_command(machine, prefix, command, all_programs):
        how += "; the command makes the same programs and C, and runs them"
    if machine.system == "windows" and machine.run is not None:
        run_interface_tests(machine, zig, prefix, files)
        run_platform_test(machine, zig, prefix)
        how += "; the tests of the C interface and of //runtime/platform pass, too"
    if "--twice" in sys.argv:
        check_built_anew(machine, work / name, work / name)
        how += "; built anew in another folder it has the same bytes"
    sizes = [path.stat().st_size if path.exists() else "-"
             for path in (prefix / machine.library, prefix / "bin/petrel")]
    return Row(name, machine.platform, sizes[0], str(sizes[1]), how)


def main() -> int:
    zig = sys.argv[1]
    names = [word for word in sys.argv[2:] if not word.startswith("--")] or list(MACHINES)
    unknown = [name for name in names if name not in MACHINES]
    if unknown:
        print(f"machines: there is no {unknown[0]}; there are {', '.join(MACHINES)}",
              file=sys.stderr)
        return 2
    if "--library" in sys.argv and "--twice" in sys.argv:
        print("machines: --twice compares archives, which --library does not make",
              file=sys.stderr)
        return 2
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        # Before other configurations: what Bazel built last is where its links lead.
        bazel("build", "//extension/cli:petrel",
              *(f"//extension/c_api:{name}" for name in INTERFACE_TESTS))
        command = (TREE / "bazel-bin/extension/cli/petrel").resolve()
        all_programs = programs(command, work)
        files = interface_files(work / "files")
        for name in names:
            start = time.monotonic()
            try:
                with ExitStack() as stack:
                    if MACHINES[name].run == ("wine",):
                        stack.enter_context(windows_session.started(work / "wine"))
                    rows.append(tested(name, zig, work, command, all_programs, files))
                print(f"passed: {name}, {time.monotonic() - start:.0f} s", flush=True)
            except (Failed, OSError, CalledProcessError) as why:
                print(f"FAILED: {name}: {why}", file=sys.stderr, flush=True)
                failed += 1
    print("| machine | platform | library | command | how it is tested |\n"
          "|---|---|---:|---:|---|")
    for row in rows:
        print(f"| {row.name} | {row.platform} | {row.library} | {row.command} | {row.how} |")
    print(f"{len(rows)} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
