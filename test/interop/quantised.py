#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges quantised programs with the ExecuTorch wheel, both ways.

  test/interop/quantised [--petrel BINARY] [--work DIR] [--markdown] [NAME ...]

For each program of quantised_list.py, exported by us and by the wheel, with weights inside
and in a .ptd, all four files run in both runtimes. A row tells:

  dB      signal to noise of our file in our runtime against eager torch, and of the wheel's in
          its own; ours may be 0.5 dB below, beyond 100 dB only floats round. Ours may be as near to
          the network in floats instead, which stands in brackets: where scales are chosen at run
          time, XNNPACK chooses others than eager torch, one for each row or image; and where a
          mean lies in the middle between two levels, sums of floats decide on either. The second
          only where no output is more than a level from eager torch's
  apart   how far the two runtimes are apart on our file and on the wheel's, at most: in levels of
          the outputs where these are quantised, else of the largest magnitude
  calls, kernels   delegate calls and kernels of both files; ours may have more only where kernels
          cost less, and not with --partition supported, which asks for what the wheel does;
          of bfloat16, which the wheel leaves to kernels, calls and kernels together

and fails, too, where weights in a .ptd give other bits than inside, and where we refuse what the
wheel takes. What the wheel refuses, or computes nonsense of from its own file, is named, and then
ours alone must be near to eager torch.
The last line is "N passed, N failed"; the exit status is 1 when anything failed.
"""

import dataclasses
import math
import pathlib
import sys
import tempfile

import numpy as np

import quantised_list
import quantised_programs
import quantised_wheel
import wheel
from command import Failed, command
from quantised_programs import Program
from tool_parser import ToolParser

STORAGES = ["inline", "ptd"]
ALLOWANCE_DB, EXACT_DB = 0.5, 100.0
ALONE_DB = 30.0  # of ours where the wheel has no file
FEW_CALLS = 2  # of most programs
SENSE_DB = 20.0  # below, a file of the wheel computes something else in the wheel
# Of the two runtimes on the same file. Half has steps of 5e-4 to 1e-3 of a number, bfloat16 of
# 4e-3 to 8e-3; sums differ, and the wheel's kernels round them to bfloat16 on the way.
# Levels that are chosen at run time are 4e-3 of a row's range, and that of a number may be the next.
APART_SHARE = 1e-2  # of ours from eager torch, where there are no levels: one in between
APART_LEVELS, APART = 1.0, {"static": 1e-4, "dynamic": 1e-2, "weights": 1e-4, "half": 3e-3,
                             "bfloat16": 3e-2}
MOVES = ["flatten", "max_pool1d", "max_pool2d", "permute", "reshape", "select", "slice", "squeeze",
         "transpose", "unsqueeze", "view"]  # results have levels of what they are given
Outputs = list[list[np.ndarray]]  # by call, by place


def signal_to_noise(calls: Outputs, expected: Outputs) -> float:
    """Of the worst output, over all calls, in dB; up to EXACT_DB."""
    worst = EXACT_DB
    for actual, exact in zip(zip(*calls), zip(*expected), strict=True):
        a, y = (np.concatenate([v.astype(np.float64).ravel() for v in side])
                for side in (actual, exact))
        if a.shape != y.shape or not np.isfinite(a).all():
            raise Failed(f"has {a.size} numbers, not all finite, expected {y.size}")
        noise, signal = float(np.sum((a - y) ** 2)), float(np.sum(y ** 2))
        if signal == 0:
            raise Failed("proves nothing, expected values are zero")
        if noise:
            worst = min(worst, 10 * math.log10(signal / noise))
    return worst


def step_of(node) -> float:
    """Between two levels of what `node` makes; 0 where it has none."""
    while node.op == "call_function" and node.target.overloadpacket.__name__ in MOVES:
        node = node.args[0]
    return node.args[1] if "dequantize_per_tensor.default" in str(node.target) else 0.0


def quanta(program: Program) -> dict[str, list[float]]:
    """By method, the step between two levels of each output; 0 where it has none."""
    return {method: [1.0 if program.border else step_of(node)
                     for node in exported.graph.output_node().args[0]]
            for method, exported in program.methods.items()}


@dataclasses.dataclass
class Apart:
    levels: float = 0.0
    share: float = 0.0  # of the largest magnitude, of outputs without levels
    has_levels: bool = False

    def __str__(self) -> str:
        told = [f"{self.levels:.0f} levels"] if self.has_levels else []
        told += [f"{self.share:.0e}"] if self.share or not told else []
        return " ".join(told)

    def include(self, other: "Apart") -> None:
        self.levels, self.share = max(self.levels, other.levels), max(self.share, other.share)
        self.has_levels |= other.has_levels


@dataclasses.dataclass
class File:
    """A program, ours or the wheel's, and what it gave in both runtimes."""

    pte: pathlib.Path
    calls: int = 0
    kernels: int = 0
    here: Outputs | None = None
    there: Outputs | None = None


def raise_if_wrong(program: Program, there: Outputs, what: str, why: Failed) -> None:
    """Of what we refuse: whether the wheel itself makes no sense of its file."""
    db = signal_to_noise(there, [[y.numpy() for y in call.expected] for call in program.calls])
    if db < SENSE_DB:
        raise quantised_wheel.Refused(f"{what} gives {db:.1f} dB there; here: {why}")


@dataclasses.dataclass
class Row:
    name: str
    ok: bool = True
    db: str = "-"
    db_wheel: str = "-"
    apart: str = "-"
    apart_wheel: str = "-"
    counts: str = "-"
    verdict: str = ""

    def __str__(self) -> str:
        return (f"{'ok  ' if self.ok else 'FAIL'}  {self.name:26s} dB {self.db:>12s}, wheel "
                f"{self.db_wheel:>12s}  apart {self.apart}, wheel's {self.apart_wheel}  "
                f"calls {self.counts}  {self.verdict}")

    @property
    def markdown(self) -> str:
        cells = [self.name, self.db, self.db_wheel, self.apart, self.apart_wheel, self.counts,
                 self.verdict if self.ok else "FAIL: " + self.verdict]
        return "| " + " | ".join(cells) + " |"


class Exchange:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path, worker: wheel.Worker) -> None:
        self.petrel, self.work, self.worker = petrel, work, worker
        self.runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"

    def run(self, words: list[object], pte: pathlib.Path, storage: str, name: str,
            program: Program) -> Outputs:
        words = [*words, pte]
        if storage == "ptd":
            words += ["--data", pte.with_suffix(".ptd")]
        for c, call in enumerate(program.calls):
            files = [self.work / f"{name}.input_{c}_{i}.npy" for i in range(len(call.inputs))]
            words += ["--call", f"{call.method}:" + ",".join(map(str, files))]
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            command(*words, "--output-dir", folder)
            return [[np.load(f"{folder}/call_{c}_output_{i}.npy")
                     for i in range(len(call.expected))]
                    for c, call in enumerate(program.calls)]

    def write(self, name: str, program: Program) -> None:
        """Archives and inputs."""
        for method, exported in program.methods.items():
            quantised_programs.save(exported, self.work / f"{name}.{method}.pt2")
        for c, call in enumerate(program.calls):
            for i, x in enumerate(call.inputs):
                np.save(self.work / f"{name}.input_{c}_{i}.npy", x.numpy())

    def export_ours(self, name: str, program: Program, pte: pathlib.Path, storage: str,
                    *more: object) -> None:
        words = [w for m in program.methods for w in ("--method", f"{m}={self.work / name}.{m}.pt2")]
        words += ["--backend", "xnnpack", "-o", pte, *more]
        if program.border:
            words += ["--io-dtype", "int8"]
        if storage == "ptd":
            words += ["--external-weights", pte.with_suffix(".ptd")]
        command(self.petrel, "export", *words)

    def file(self, name: str, program: Program, side: str) -> File:
        """Makes the file with weights inside and in a .ptd, and runs each in both runtimes."""
        made: dict[str, File] = {}
        for storage in STORAGES:
            file = made[storage] = File(self.work / f"{name}.{side}.{storage}.pte")
            if side == "petrel":
                self.export_ours(name, program, file.pte, storage)
            else:
                quantised_wheel.export(program, file.pte, storage == "ptd")
            what = f"{side}'s {storage} file"
            # The wheel's file in the wheel first: what its own runtime refuses proves nothing here.
            try:
                share = ["--share-arenas"] if len(program.methods) > 1 else []
                file.there = self.run([self.runner, *share], file.pte, storage, name, program)
            except Failed as why:
                if side == "wheel":
                    raise quantised_wheel.Refused(f"its {storage} file: {why}") from None
                raise Failed(f"{what} in the wheel: {why}") from None
            try:
                file.here = self.run([self.petrel, "run"], file.pte, storage, name, program)
            except Failed as why:
                if side == "wheel":
                    raise_if_wrong(program, file.there, what, why)
                raise Failed(f"{what} here: {why}") from None
        inline, ptd = (made[storage] for storage in STORAGES)
        for runtime in ("here", "there"):
            for a, b in zip(getattr(inline, runtime), getattr(ptd, runtime), strict=True):
                if any(x.tobytes() != y.tobytes() for x, y in zip(a, b, strict=True)):
                    raise Failed(f"{side}'s file has other bits {runtime} with weights in a .ptd")
        inline.calls, inline.kernels = self.counts(program, inline.pte)
        return inline

    def counts(self, program: Program, pte: pathlib.Path) -> tuple[int, int]:
        counts = self.worker.describe(pte)
        return (sum(counts[m]["delegate_calls"] for m in program.methods),
                sum(counts[m]["kernel_calls"] for m in program.methods))

    def has_more_calls(self, name: str, program: Program, theirs: File) -> str:
        """Why ours has more calls by default: what small groups cost; else Failed."""
        pte = self.work / f"{name}.petrel.supported.pte"
        self.export_ours(name, program, pte, "inline", "--partition", "supported")
        calls, kernels = self.counts(program, pte)
        told = f"with --partition supported {calls}, kernels {kernels}"
        if calls > theirs.calls or kernels > theirs.kernels:
            raise Failed(f"more calls than the wheel's, {told}")
        return told

    @staticmethod
    def apart(one: Outputs, other: Outputs, program: Program) -> Apart:
        steps, worst = quanta(program), Apart()
        for call, of_one, of_other in zip(program.calls, one, other, strict=True):
            for step, a, b in zip(steps[call.method], of_one, of_other, strict=True):
                if a.shape != b.shape or a.dtype != b.dtype:
                    raise Failed(f"{a.dtype}{a.shape} beside {b.dtype}{b.shape}")
                off = float(np.abs(a.astype(np.float64) - b).max())
                most = float(np.abs(b.astype(np.float64)).max())
                worst.include(Apart(levels=off / step, has_levels=True) if step
                              else Apart(share=off / most if most else off))
        return worst

    def check(self, name: str) -> Row:
        row = Row(name)

        def say(text: str) -> None:
            row.verdict = "; ".join(filter(None, [row.verdict, text]))

        def wrong(text: str) -> None:
            row.ok = False
            say(text)

        try:
            program = quantised_list.make(name)
        except Exception as why:
            wrong(f"cannot be made: {type(why).__name__}: {' '.join(str(why).split())[:200]}")
            return row
        self.write(name, program)
        if len(program.calls) > FEW_CALLS:
            say(f"over {len(program.calls)} batches, others over {FEW_CALLS}")
        expected = [[y.numpy() for y in call.expected] for call in program.calls]
        floats = [[y.numpy() for y in call.floats] for call in program.calls]
        noises = []
        ours = theirs = None
        try:
            ours = self.file(name, program, "petrel")
        except (Failed, wheel.WheelError) as why:
            wrong(str(why))
        try:
            theirs = self.file(name, program, "wheel")
        except quantised_wheel.Refused as why:
            say(f"the wheel refuses: {why}")
        except (Failed, wheel.WheelError) as why:
            wrong(str(why))
        for file, of_db, of_apart in ((ours, "db", "apart"), (theirs, "db_wheel", "apart_wheel")):
            if not file:
                continue
            apart = self.apart(file.here, file.there, program)
            setattr(row, of_apart, str(apart))
            if apart.levels > APART_LEVELS + 1e-3 or apart.share > APART[program.kind]:
                wrong(f"runtimes are {apart} apart on {file.pte.name}")
            results = file.here if file is ours else file.there
            noises.append([signal_to_noise(results, expected)])
            setattr(row, of_db, f"{noises[-1][0]:.1f}")
            if program.kind in (quantised_programs.DYNAMIC, quantised_programs.STATIC):
                noises[-1].append(signal_to_noise(results, floats))
                setattr(row, of_db, "{:.1f} ({:.1f})".format(*noises[-1]))
        if theirs and noises[-1][0] < SENSE_DB:
            say("the wheel's file computes something else")
            theirs = None
        if ours and theirs:
            row.counts = (f"{ours.calls}, wheel {theirs.calls}, kernels {ours.kernels}, wheel "
                          f"{theirs.kernels}")
            if program.kind == quantised_programs.BFLOAT:
                # The wheel delegates none: a call in the place of kernels is what is wanted.
                if ours.calls + ours.kernels > theirs.calls + theirs.kernels:
                    wrong("more calls and kernels than the wheel's")
            elif ours.calls > theirs.calls or ours.kernels > theirs.kernels:
                try:
                    say(self.has_more_calls(name, program, theirs))
                except Failed as why:
                    wrong(str(why))
            if program.kind == quantised_programs.STATIC:
                off = self.apart(ours.here, expected, program)
                if off.levels > APART_LEVELS + 1e-3 or off.share > APART_SHARE:
                    noises = [n[:1] for n in noises]
            if all(a < b - ALLOWANCE_DB for a, b in zip(*noises)):
                wrong("more noise than the wheel's")
        elif ours:
            row.counts = f"{ours.calls}, kernels {ours.kernels}"
            if noises[0][0] < ALONE_DB:
                wrong(f"below {ALONE_DB:.0f} dB")
        return row


def main() -> int:
    parser = ToolParser(__doc__, "petrel", names=list(quantised_list.PROGRAMS))
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--markdown", action="store_true", help="as a table for the docs")
    args = parser.parse_args()
    passed = failed = 0
    if args.markdown:
        print("| program | dB | dB, wheel | apart | apart, wheel's file | calls | |")
        print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        work = (args.work or pathlib.Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        exchange = Exchange(args.petrel, work, worker)
        for name in args.names or quantised_list.PROGRAMS:
            row = exchange.check(name)
            passed += row.ok
            failed += not row.ok
            print(row.markdown if args.markdown else row, flush=True)
    print(f"\n{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
