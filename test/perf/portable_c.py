#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What generated C costs beside the program that it is made of, and beside another generator.

  test/perf/portable_c [--petrel BINARY] [--rounds N] [--seconds S] [NAME ...]

Each network runs with one thread as C, as a program with kernels and with
XNNPACK, and as what emx-onnx-cgen makes of its ONNX file where it can. C is
compiled by $CC, else cc: as `gen-c --compile so` does, and again with
-march=native, each exact and with --math fast; the other generator's with -O3 and the same. Rounds take turns;
times are medians over them. Ratios to each runtime, below 1 where the row is faster, are the
medians of the rounds' ratios. What
differs from eager torch is not timed, nor exact C that differs from the
reference kernels in a bit. Bytes of code and constants are those of the
library's sections; a program's are in its file, its code in the runtime.
"""

import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import agreement  # noqa: E402
import export_models  # noqa: E402
from command import Failed, command  # noqa: E402
from embedded_models import EMBEDDED  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

CC = os.environ.get("CC", "cc").split()
NATIVE = "-march=native"
PINNED = ["taskset", "-c", "0"]
# Constants beyond that are read from a file, as text would take a compiler gigabytes.
TEXT_BYTES = 2**21
# What C is compared with; the other generator's is the faster one where both exist.
RUNTIMES = ["kernels", "xnnpack", "emx", "emx native"]
# Networks of fewer multiply-adds must be faster as C than in every runtime.
SMALL = 300_000


@dataclasses.dataclass
class Case:
    """A network with one input, written into a folder of its own."""

    name: str
    folder: pathlib.Path
    multiply_adds: int

    def file(self, ending: str) -> pathlib.Path:
        return self.folder / f"{self.name}.{ending}"

    @property
    def expected(self) -> np.ndarray:
        return np.load(self.file("output_0_0.npy"))


@dataclasses.dataclass
class Side:
    """One way to run a case."""

    name: str
    seconds: Callable[[float], float]  # of a run, measured for so long
    output: np.ndarray
    code: int | None = None
    constants: int | None = None


def write_case(name: str, work: pathlib.Path) -> Case:
    folder = work / name
    folder.mkdir(parents=True)
    model = EMBEDDED[name]()
    export_models.write(name, model, folder)
    # The counter sees neither cells nor attention in kernels that do them whole.
    with (FlopCounterMode(display=False) as counter, torch.no_grad(),
          torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH)):
        model.module(*model.inputs[0])
    return Case(name, folder, counter.get_total_flops() // 2)


def sections(library: pathlib.Path) -> tuple[int, int]:
    """Bytes of code and of constants."""
    rows = [line.split() for line in command("size", "-A", library).splitlines()]
    size = {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdigit()}
    return size.get(".text", 0), size.get(".rodata", 0) + size.get(".data.rel.ro", 0)


def petrel_side(petrel: pathlib.Path, case: Case, name: str, words: list[object],
                library: pathlib.Path | None = None) -> Side:
    given = [*words, "--input", case.file("input_0_0.npy")]
    out = case.folder / f"{name} out"
    run = [w for w in given if w not in ("--threads", "1")]
    command(petrel, "run", *run, "--output-dir", out)

    def seconds(length: float) -> float:
        text = command(*PINNED, petrel, "bench", *given, "--seconds", length, "--json")
        return json.loads(text.splitlines()[-1])["p50_seconds"]

    code, constants = sections(library) if library else (None, None)
    return Side(name, seconds, np.load(out / "output_0.npy"), code, constants)


def c_side(petrel: pathlib.Path, case: Case, name: str, cc: list[str], math: str) -> Side:
    folder = case.folder / name
    command("env", "CC=" + " ".join(cc), petrel, "gen-c", case.file("pt2"), "-o", folder,
            "--name", "net", "--compile", "so", "--math", math)
    library = folder / "libnet.so"
    return petrel_side(petrel, case, name, ["--compiled", library], library)


def program_side(petrel: pathlib.Path, case: Case, name: str, backend: str,
                 more: list[object]) -> Side:
    pte = case.file(f"{backend}.pte")
    command(petrel, "export", case.file("pt2"), "--backend", backend, "-o", pte)
    side = petrel_side(petrel, case, name, [pte, *more])
    side.constants = pte.stat().st_size
    return side


def other_side(case: Case, name: str, cc: list[str]) -> Side:
    folder = case.folder / name
    folder.mkdir()
    onnx = case.file("onnx")
    if not onnx.exists():
        command(sys.executable, HERE / "to_onnx.py", case.file("pt2"), onnx)
    command(sys.executable, "-m", "emx_onnx_cgen", "compile", "--model-name", "model",
            "--restrict-arrays", "--large-temp-threshold", 2**16, "--large-weight-threshold",
            TEXT_BYTES, onnx, folder / "model.c")
    flags = ["-std=c11", "-O3", "-D_POSIX_C_SOURCE=199309L"]
    library = folder / "model.so"
    command(*cc, *flags, "-shared", "-fPIC", "-s", folder / "model.c", "-lm", "-o", library)
    program = folder / "time_model"
    command(*cc, *flags, HERE / "time_model.c", library, f"-Wl,-rpath,{folder}", "-o", program)
    image = np.load(case.file("input_0_0.npy"))
    image.tofile(folder / "in.bin")
    weights = list(folder.glob("model.bin"))
    words = [program, image.size, case.expected.size]
    rest = [folder / "in.bin", folder / "out.bin", *weights]

    def seconds(length: float) -> float:
        return json.loads(command(*PINNED, *words, length, *rest))["p50_seconds"]

    seconds(0)
    output = np.fromfile(folder / "out.bin", np.float32).reshape(case.expected.shape)
    code, constants = sections(library)
    return Side(name, seconds, output, code, constants + sum(w.stat().st_size for w in weights))


def sides_of(petrel: pathlib.Path, case: Case) -> list[Side]:
    """All that can be made and agree with eager torch."""
    makers = {
        "C": lambda n: c_side(petrel, case, n, CC, "exact"),
        "C native": lambda n: c_side(petrel, case, n, [*CC, NATIVE], "exact"),
        "fast": lambda n: c_side(petrel, case, n, CC, "fast"),
        "fast native": lambda n: c_side(petrel, case, n, [*CC, NATIVE], "fast"),
        "kernels": lambda n: program_side(petrel, case, n, "none", ["--threads", "1"]),
        "xnnpack": lambda n: program_side(petrel, case, n, "xnnpack", ["--threads", "1"]),
        "emx": lambda n: other_side(case, n, CC),
        "emx native": lambda n: other_side(case, n, [*CC, NATIVE]),
    }
    sides = []
    for name, make in makers.items():
        try:
            side = make(name)
            agreement.compare([side.output], [case.expected])
            sides.append(side)
        except (Failed, agreement.Disagreement) as why:
            print(f"{case.name}: {name} is not timed: {why}", flush=True)
    return sides


def check_bits(petrel: pathlib.Path, case: Case, sides: list[Side]) -> None:
    reference = petrel_side(petrel, case, "reference",
                            [case.file("none.pte"), "--kernels", "reference"]).output
    for side in sides:
        if side.name.startswith("C") and side.output.tobytes() != reference.tobytes():
            raise Failed(f"{side.name} differs from the reference kernels")


def time_case(petrel: pathlib.Path, case: Case, args) -> None:
    sides = sides_of(petrel, case)
    check_bits(petrel, case, sides)
    rounds: dict[str, list[float]] = {side.name: [] for side in sides}
    for start in range(args.rounds):
        first = start % len(sides)  # nobody always comes after the same one
        for side in sides[first:] + sides[:first]:
            rounds[side.name].append(side.seconds(args.seconds) * 1e6)
    print(f"\n{case.name}, {case.multiply_adds:,} multiply-adds, {args.rounds} rounds\n"
          f"  {'':12s}{'us':>12s}"
          + "".join(f"{'/ ' + name:>14s}" for name in RUNTIMES if name in rounds)
          + f"{'code':>10s}{'constants':>12s}")
    for side in sides:
        shown = ["" if n is None else f"{n:,}" for n in (side.code, side.constants)]
        print(f"  {side.name:12s}{statistics.median(rounds[side.name]):12.2f}"
              + "".join(f"{ratio(rounds, side.name, name):14.2f}"
                        for name in RUNTIMES if name in rounds)
              + f"{shown[0]:>10s}{shown[1]:>12s}", flush=True)
    if case.multiply_adds < SMALL:
        print_losses(rounds)


def ratio(rounds: dict[str, list[float]], side: str, runtime: str) -> float:
    return statistics.median(t / r for t, r in zip(rounds[side], rounds[runtime]))


def print_losses(rounds: dict[str, list[float]]) -> None:
    """Which runtimes are faster than a small network as C."""
    for side in ("C", "fast"):
        losses = [f"{name} ({ratio(rounds, side, name):.2f})" for name in RUNTIMES
                  if side in rounds and name in rounds and ratio(rounds, side, name) >= 1]
        print(f"  {side}: {'slower than ' + ', '.join(losses) if losses else 'beats every runtime'}",
              flush=True)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", names=list(EMBEDDED))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for name in args.names or EMBEDDED:
            try:
                time_case(args.petrel, write_case(name, pathlib.Path(work)), args)
            except Failed as why:
                failed = True
                print(f"\n{name}: not timed: {why}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
