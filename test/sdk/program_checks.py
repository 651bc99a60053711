# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of test/models on other machines: by an app in C, and by the command.

    found = program_checks.programs(command, work)          exported by this machine's command
    program_checks.run_all(machine, zig, prefix, found)     how many ran, all rightly
    program_checks.check_command(machine, prefix, command, found)

Their inputs and outputs are those that eager PyTorch gave.
"""

import pathlib
import re
from typing import Callable, Dict, List, Tuple

import numpy

from binary_checks import check_needs
from machine_list import TREE, Failed, Machine, done, ran

MODELS = TREE / "test/models/fixtures/torch_2_13"

# By name: the program, and for each input its file and sizes.
Programs = Dict[str, Tuple[pathlib.Path, List[object]]]


def programs(command: pathlib.Path, work: pathlib.Path) -> Programs:
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
            done(command, "export", archive, "-o", program, "--backend", backend)
            found[f"{name} {backend}"] = (program, raw)
    return found


def check_numbers(path: pathlib.Path, got: numpy.ndarray) -> None:
    """With what eager PyTorch gave."""
    expected = numpy.load(path)
    if got.size != expected.size:
        raise Failed(f"{path.stem} has {got.size} numbers, must have {expected.size}")
    got = got.reshape(expected.shape)
    if expected.dtype.kind != "f":
        if not numpy.array_equal(got, expected):
            raise Failed(f"{path.stem} differs")
    elif not numpy.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
        raise Failed(f"{path.stem} differs by {numpy.nanmax(numpy.abs(got - expected))}")


def compare(name: str, count: int, output: Callable[[int, numpy.dtype], numpy.ndarray]) -> None:
    """The numbers of a program's `count` outputs with what eager PyTorch gave."""
    paths = sorted(MODELS.glob(f"{name}.output_*.npy"))
    # Inputs that the model writes come before what it returns.
    before = count - len(paths)
    for path in paths:
        number = before + int(path.stem.rsplit("_", 1)[1])
        check_numbers(path, output(number, numpy.load(path).dtype))


def built_app(machine: Machine, zig: str, prefix: pathlib.Path, source: str,
              *more: object) -> pathlib.Path:
    """A program in C with the library: beside it for Windows, elsewhere it knows the way."""
    app = prefix / machine.library
    app = app.parent / f"{pathlib.Path(source).stem}{'.exe' if machine.system == 'windows' else ''}"
    way = [] if machine.system == "windows" else [f"-Wl,-rpath,{prefix}/lib"]
    done(zig, "cc", "-target", machine.target, "-std=c99", "-O1", TREE / source, "-o", app,
         f"-I{prefix}/include", f"-L{prefix}/lib", "-lpetrel", *way, *more)
    return app


def run_all(machine: Machine, zig: str, prefix: pathlib.Path,
            all_programs: Programs) -> int:
    """How many programs ran, all rightly."""
    app = built_app(machine, zig, prefix, "test/sdk/raw_app.c")
    if machine.run is None:
        return 0
    for name, (program, inputs) in all_programs.items():
        out = prefix / name.replace(" ", "_")
        ran(machine, app, program, out, *inputs)
        compare(name.split()[0], len(list(prefix.glob(f"{out.name}.*"))),
                lambda i, kind, out=out: numpy.fromfile(f"{out}.{i}", kind))
    return len(all_programs)


def same_files(first: pathlib.Path, second: pathlib.Path) -> bool:
    names = sorted(path.name for path in first.iterdir())
    return names == sorted(path.name for path in second.iterdir()) and \
        all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def check_command(machine: Machine, prefix: pathlib.Path, command: pathlib.Path,
                  all_programs: Programs) -> bool:
    """Whether there is one. What it makes has the bytes that this machine's command gives, and
    what it runs gives what eager PyTorch gave."""
    if machine.run is None or not (prefix / "bin/petrel").exists():
        return False
    check_needs(machine, prefix / "bin/petrel")
    here, there = (command,), (*machine.run, prefix / "bin/petrel")
    told = done(*there, "--version").splitlines()[0]
    if not re.fullmatch(r"petrel [\d.]+, built with Clang [\d.]+", told):
        raise Failed(f"bin/petrel says it is {told!r}")
    levels = [done(*words, "run", "--isa", "list") for words in (here, there)]
    if machine.run == () and levels[0] != levels[1]:
        raise Failed(f"bin/petrel finds {levels[1]} in this processor, must find {levels[0]}")
    for name, (program, _) in all_programs.items():
        model, backend = name.split()
        archive, work = MODELS / f"{model}.pt2", prefix / f"command_{model}_{backend}"
        work.mkdir()
        done(*there, "export", archive, "-o", work / "compiled.pte", "--backend", backend)
        if (work / "compiled.pte").read_bytes() != program.read_bytes():
            raise Failed(f"bin/petrel compiles {name} to other bytes")
        inputs = sorted(MODELS.glob(f"{model}.input_*.npy"))
        words = [word for path in inputs for word in ("--input", path)]
        done(*there, "run", work / "compiled.pte", *words, "--output-dir", work / "out")
        compare(model, len(list((work / "out").iterdir())),
                lambda i, _, out=work / "out": numpy.load(out / f"output_{i}.npy"))
        if backend == "none":
            for kind, words in (("here", here), ("there", there)):
                done(*words, "gen-c", archive, "-o", work / kind)
            if not same_files(work / "here", work / "there"):
                raise Failed(f"bin/petrel writes other C for {name}")
    return True
