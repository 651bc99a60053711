#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times our program in our runtime beside the wheel's program in its runtime.

  test/interop/bench [--petrel BINARY] [--rounds N] [--threads 1,2] [NAME ...]

Both sides are C++ processes that map the file, pinned to as many cores as they
have threads, and started in turn: ours, theirs, ours, theirs. Each process
loads the program, runs it once, warms up and then times at least 30 runs or
--seconds, through the Module facade with inputs and outputs. A side whose
output differs from eager torch is not timed. Times are medians over the rounds
in microseconds; a ratio is the median of the rounds' ratios wheel / petrel, so
above 1 we are faster. Last come the geometric means over all models.

What a process does once, finding out about the processor, is in neither's time
of loading: the wheel does it when its library is linked in, ours before it
loads. Delegate calls and kernels are those of the two programs.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile

import run
import wheel
from run import Case, Failed, Interop, command

METRICS = ["load", "first run", "steady min", "steady p50", "steady p90", "peak MB"]
MEANS = ["load", "first run", "steady p50"]


@dataclasses.dataclass
class Side:
    name: str
    case: Case

    def words(self, interop: Interop, threads: int, seconds: float) -> list[object]:
        # The shell stands between, so that a peak does not include this process:
        # the kernel carries it over on exec.
        cores = ["sh", "-c", '"$@"; exit $?', "sh",
                 "taskset", "-c", ",".join(map(str, range(threads)))]
        data = self.case.data_words
        if self.name == "petrel":
            return [*cores, interop.petrel, "bench", self.case.pte, *data, "--threads", threads,
                    "--seconds", seconds, "--json"]
        return [*cores, interop.runner, self.case.pte, *data, "--threads", threads, "--bench",
                seconds]

    def measure(self, interop: Interop, threads: int, seconds: float) -> dict[str, float]:
        report = json.loads(command(*self.words(interop, threads, seconds)).splitlines()[-1])
        return self.ours(report) if self.name == "petrel" else self.theirs(report)

    @staticmethod
    def ours(report: dict) -> dict[str, float]:
        return {
            "load": report["load_seconds"] * 1e6,
            "first run": report["first_run_seconds"] * 1e6,
            "steady min": report["min_seconds"] * 1e6,
            "steady p50": report["p50_seconds"] * 1e6,
            "steady p90": report["p90_seconds"] * 1e6,
            "peak MB": report["peak_memory_bytes"] / 2**20,
        }

    @staticmethod
    def theirs(report: dict) -> dict[str, float]:
        return {
            "load": report["load"],
            "first run": report["first_run"],
            "steady min": report["steady"]["min"],
            "steady p50": report["steady"]["p50"],
            "steady p90": report["steady"]["p90"],
            "peak MB": report["peak_rss_kb"] / 1024,
        }


def prepare(interop: Interop, model: str, backend: str) -> list[Side]:
    name = f"{model}.{backend}.bench.pte"
    ours = Case(model, backend, "inline", interop.ours / name)
    theirs = Case(model, backend, "inline", interop.theirs / name)
    interop.export_ours(ours)
    interop.export_theirs(theirs)
    examples = run.read_examples(interop.models, model)
    interop.compare(interop.in_petrel, ours, examples)
    interop.compare(interop.in_runner, theirs, examples)
    counts = [interop.worker.describe(case.pte) for case in (ours, theirs)]
    print(f"\n{model}: " + ", ".join(
        f"{side} {count['delegate_calls']} delegate calls and {count['kernel_calls']} kernels"
        for side, count in zip(("petrel", "wheel"), counts)))
    return [Side("petrel", ours), Side("wheel", theirs)]


def bench(interop: Interop, model: str, sides: list[Side], threads: int,
          args) -> dict[str, float]:
    """Prints a table; returns the ratios wheel / petrel."""
    rounds: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for _ in range(args.rounds):
        for side in sides:
            rounds[side.name].append(side.measure(interop, threads, args.seconds))
    print(f"\n{model}, {args.backend}, {threads} thread(s), {args.rounds} rounds")
    print(f"  {'':12s}{'petrel':>12s}{'wheel':>12s}{'wheel/petrel':>14s}")
    ratios = {}
    for metric in METRICS:
        ours = [r[metric] for r in rounds["petrel"]]
        theirs = [r[metric] for r in rounds["wheel"]]
        ratios[metric] = statistics.median(t / o for o, t in zip(ours, theirs))
        print(f"  {metric:12s}{statistics.median(ours):12.1f}{statistics.median(theirs):12.1f}"
              f"{ratios[metric]:14.2f}", flush=True)
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrel", type=pathlib.Path,
                        default=run.ROOT / "bazel-bin" / "extension" / "cli" / "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--backend", choices=run.BACKENDS, default="xnnpack")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(run.NAMES))
    args = parser.parse_args()
    for name in args.names:
        if name not in run.NAMES:
            parser.error(f"unknown model '{name}', known: {', '.join(run.NAMES)}")
    if not os.access(args.petrel, os.X_OK):
        print(f"{args.petrel} is not there; build //extension/cli:petrel first", file=sys.stderr)
        return 1
    failed = False
    ratios: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        work = (args.work or pathlib.Path(scratch)).resolve()
        interop = Interop(args.petrel.resolve(), work, worker)
        names = args.names or run.NAMES
        command(sys.executable, run.ROOT / "test" / "models" / "export_models.py",
                "--out", interop.models, *names)
        for name in names:
            try:
                sides = prepare(interop, name, args.backend)
                for threads in map(int, args.threads.split(",")):
                    ratios.append(bench(interop, name, sides, threads, args))
            except (Failed, run.agreement.Disagreement) as why:
                failed = True
                print(f"\n{name}: not timed: {why}", flush=True)
    for metric in MEANS if ratios else []:
        values = [r[metric] for r in ratios]
        print(f"{metric:12s}geometric mean {statistics.geometric_mean(values):.2f}, "
              f"worst {min(values):.2f}, over {len(values)} tables")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
