#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times our program in our runtime beside the wheel's program in its runtime.

  test/interop/bench [--petrel BINARY] [--against BINARY] [--rounds N] [--threads 1,2]
                     [--statistic median|min] [--json OUT.json] [NAME or MODEL.pt2 ...]

With --against, the other side is another build of our command, with programs of its
own, in place of the wheel.

Both sides are C++ processes that map the file, pinned to as many cores as they
have threads, and started in turn: ours, theirs, ours, theirs. Each process
loads the program, runs it once, warms up and then times at least 30 runs or
--seconds, through the Module facade with inputs and outputs. A network of
several methods is timed method by method. A side whose outputs differ from
eager torch with any of the numbers of threads is not timed, and the exit status
is 1 then.

Times are medians over the rounds in microseconds; a ratio is the median of the
rounds' ratios petrel / wheel, so below 1 we are faster. On a machine that does
other things, --statistic min takes the best of the rounds on either side. Last
come the geometric means over all tables, the worst, and every ratio above 1.03.

What a process does once, finding out about the processor, is in neither's time
of loading: the wheel does it when its library is linked in, ours before it
loads. Delegate calls and kernels are those of the two programs.
"""

import dataclasses
import json
import pathlib
import statistics
import sys
import tempfile

import networks
import wheel
from agreement import Disagreement
from command import Failed
from sides import METRICS, Side, prepare
from tool_parser import ToolParser

MEANS = ["steady p50", "first run", "load"]
MEAN_AIM, EACH_AIM = 0.80, 1.03


@dataclasses.dataclass
class Row:
    """One metric of one table: what each side took, and the ratio."""

    table: str
    threads: int
    metric: str
    ours: float
    theirs: float
    ratio: float


def best(values: list[float], statistic: str) -> float:
    return min(values) if statistic == "min" else statistics.median(values)


def ratio(ours: list[float], theirs: list[float], statistic: str) -> float:
    if statistic == "min":
        return min(ours) / min(theirs)
    return statistics.median(o / t for o, t in zip(ours, theirs, strict=True))


def time_call(name: str, sides: list[Side], call: networks.Call, threads: int,
              args) -> list[Row]:
    rounds: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for _ in range(args.rounds):
        for side in sides:
            rounds[side.name].append(side.measure(call, threads, args.seconds))
    print(f"\n{name}, {args.backend}, {threads} thread(s), {args.rounds} rounds")
    other = sides[1].name
    print(f"  {'':12s}{'petrel':>12s}{other:>12s}{'petrel/' + other:>16s}")
    rows = []
    for metric in METRICS:
        ours = [r[metric] for r in rounds["petrel"]]
        theirs = [r[metric] for r in rounds[other]]
        row = Row(name, threads, metric, best(ours, args.statistic), best(theirs, args.statistic),
                  ratio(ours, theirs, args.statistic))
        rows.append(row)
        print(f"  {metric:12s}{row.ours:12.1f}{row.theirs:12.1f}{row.ratio:16.2f}", flush=True)
    return rows


def summary(rows: list[Row], other: str) -> None:
    mean_aim = f"{MEAN_AIM:.2f} in the mean, " if other == "wheel" else ""
    print(f"\npetrel / {other}; the aim is {mean_aim}{EACH_AIM:.2f} for each")
    for metric in MEANS:
        found = [row for row in rows if row.metric == metric]
        worst = max(found, key=lambda row: row.ratio)
        mean = statistics.geometric_mean(row.ratio for row in found)
        print(f"  {metric:12s}geometric mean {mean:.2f}, worst {worst.ratio:.2f} "
              f"({worst.table}, {worst.threads}), over {len(found)} tables")
    peak = statistics.geometric_mean(r.ratio for r in rows if r.metric == "peak MB")
    print(f"  {'peak MB':12s}geometric mean {peak:.2f}")
    above = [row for row in rows if row.metric in MEANS and row.ratio > EACH_AIM]
    for row in sorted(above, key=lambda row: -row.ratio):
        print(f"  above {EACH_AIM}: {row.ratio:.2f} {row.metric} of {row.table}, "
              f"{row.threads} thread(s): {row.ours:.1f} and {row.theirs:.1f}")


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--against", type=pathlib.Path, metavar="BINARY")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--backend", choices=["none", "xnnpack"], default="xnnpack")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--statistic", choices=["median", "min"], default="median")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", type=networks.name, help=networks.HELP)
    args = parser.parse_args()
    if args.against is not None:
        if not args.against.is_file():
            parser.error(f"--against {args.against} is not a file")
        args.against = args.against.resolve()
    numbers = [int(n) for n in args.threads.split(",")]
    failed = False
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        work = (args.work or pathlib.Path(scratch)).resolve()
        found = networks.load(work / "models", args.names or networks.NAMES)
        for name, network in found.items():
            try:
                sides = prepare(args.petrel, work, network, args.backend, args.against)
                for side in sides:
                    for threads in numbers:
                        side.check(network, threads)
            except (Failed, Disagreement) as why:
                failed = True
                print(f"\n{name}: not timed: {why}", flush=True)
                continue
            for side in sides:
                for method, count in worker.describe(side.pte).items():
                    print(f"\n{name}.{method}: {side.name} {count['delegate_calls']} delegate "
                          f"calls and {count['kernel_calls']} kernels", end="")
            print()
            for table, call in network.timed.items():
                for threads in numbers:
                    try:
                        rows += time_call(table, sides, call, threads, args)
                    except Failed as why:
                        failed = True
                        print(f"\n{table}, {threads} thread(s): not timed: {why}", flush=True)
    if rows:
        summary(rows, "against" if args.against else "wheel")
        if args.json:
            args.json.write_text(json.dumps([dataclasses.asdict(r) for r in rows], indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
