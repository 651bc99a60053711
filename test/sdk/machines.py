# SPDX-License-Identifier: Apache-2.0
"""Writes the library of the C interface for other machines, and runs programs with it.

    machines.py ZIG [OPTION of Bazel...] [NAME...]

Programs are those of test/models with the inputs and outputs that eager PyTorch gave,
exported here for XNNPACK and for kernels alone. A C app that is compiled for the machine runs
them.
"""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy

TREE = pathlib.Path(__file__).resolve().parents[2]
MODELS = TREE / "test/models/fixtures/torch_2_13"
STARTUP = [word for word in sys.argv[2:] if word.startswith("--")]


# By name: the program, and for each input its file and sizes.
Programs = Dict[str, Tuple[pathlib.Path, List[object]]]


class Machine(NamedTuple):
    """What a configuration of the build is for."""
    config: str
    target: str   # as zig names it
    platform: str  # as wheels name it
    run: Optional[Tuple[str, ...]]  # in front of a program; None: it cannot be run here


MACHINES = {
    "linux_x86_64": Machine("zig_x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", ()),
    "linux_arm64": Machine("zig_arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64",
                           ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")),
    "musl_x86_64": Machine("zig_musl_x86_64", "x86_64-linux-musl", "musllinux_1_1_x86_64",
                           ("/lib/ld-musl-x86_64.so.1",)),
    "musl_arm64": Machine("zig_musl_arm64", "aarch64-linux-musl", "musllinux_1_1_aarch64", None),
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
    if not list(folder.glob(f"petrel_runtime-*-py3-none-{machine.platform}.whl")):
        raise Failed(f"{folder} has no wheel for {machine.platform}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder)
    prefix = folder / archives[0].name[:-len(".tar.gz")]
    done("sha256sum", "--check", "--strict", "share/petrel/SHA256SUMS", cwd=prefix)
    return prefix


def check_symbols(prefix: pathlib.Path) -> None:
    """Only petrel_* is there to be seen."""
    for line in done("readelf", "--wide", "--dyn-syms", prefix / "lib/libpetrel.so").splitlines():
        words = line.split()
        if len(words) < 8 or words[6] == "UND" or words[3] == "SECTION" or words[0] == "Num:":
            continue
        if not words[7].startswith(("petrel_", "PETREL_")):
            raise Failed(f"libpetrel.so shows {words[7]}")


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


def run_all(machine: Machine, zig: str, prefix: pathlib.Path,
            all_programs: Programs) -> int:
    """How many programs ran, all rightly."""
    app = prefix / "raw_app"
    done(zig, "cc", "-target", machine.target, "-std=c99", "-O1", TREE / "test/sdk/raw_app.c", "-o",
         app, f"-I{prefix}/include", f"-L{prefix}/lib", "-lpetrel", f"-Wl,-rpath,{prefix}/lib")
    if machine.run is None:
        return 0
    for name, (program, inputs) in all_programs.items():
        out = prefix / name.replace(" ", "_")
        done(*machine.run, app, program, out, *inputs)
        compare(name.split()[0], out)
    return len(all_programs)


def main() -> int:
    zig = sys.argv[1]
    names = [word for word in sys.argv[2:] if word not in STARTUP] or list(MACHINES)
    unknown = [name for name in names if name not in MACHINES]
    if unknown:
        print(f"machines: there is no {unknown[0]}; there are {', '.join(MACHINES)}",
              file=sys.stderr)
        return 2
    counts = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        bazel("build", "//extension/cli:petrel")
        all_programs = programs(work)
        for name in names:
            machine = MACHINES[name]
            (work / name).mkdir()
            try:
                prefix = written(machine, work / name)
                check_symbols(prefix)
                ran = run_all(machine, zig, prefix, all_programs)
                size = (prefix / "lib/libpetrel.so").stat().st_size
                what = f"{ran} programs as eager PyTorch" if machine.run is not None else \
                    "an app links, nothing here runs it"
                print(f"passed: {name}: {machine.platform}, {size} bytes, {what}", flush=True)
                counts[0] += 1
            except (Failed, OSError) as why:
                print(f"FAILED: {name}: {why}", file=sys.stderr, flush=True)
                counts[1] += 1
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
