#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What threads cost and gain, and what happens where processors are shared.

  ./bazelw build //extension/cli:petrel //test/perf:two_modules
  test/perf/threads [--petrel BINARY] [--two-modules BINARY] [--rounds N] [--seconds S]
                    [--group FOLDER] [NAME or MODEL.pt2 or MODEL.pte ...]

NAME is a network of forty.py; without any, small ones, as those gain least. Medians over the
rounds, in each of which all come in turn, on two processors:

  two / one      time of a run with two threads, as a part of that with one; above 1.03 is
                 marked, and the command ends with 1
  processor      the same of the processor's time
  apart          two modules that two threads run at once, with one thread each: runs in a
                 second, both together, as a multiple of one module's alone; 2 is all there is
  together       the same with the pool's two threads for both: 1 is all there is
  quota          time of a run with as many threads as Petrel chooses, as a part of that with
                 one thread, in the control group FOLDER, which has a quota of one processor

A group is made and removed by whoever may do so:

  mkdir /sys/fs/cgroup/one && echo "100000 100000" > /sys/fs/cgroup/one/cpu.max
  rmdir /sys/fs/cgroup/one
"""

import json
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import forty  # noqa: E402
from command import command  # noqa: E402
from sides import pinned  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

SMALL = ["mnasnet1_0", "squeezenet1_1", "unet_16", "detector", "text_encoder_50", "gru",
         "lstm_both_ways"]
MOST = 1.03
PROCESSORS = 2


def program(word: str, petrel: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    if word.endswith(".pte"):
        return pathlib.Path(word)
    archive = pathlib.Path(word) if word.endswith(".pt2") else forty.archive(word, work)
    out = work / (archive.stem + ".pte")
    command(petrel, "export", archive, "-o", out)
    return out


def bench(args, pte: pathlib.Path, threads: int, before: list[object]) -> dict[str, float]:
    output = command(*before, args.petrel, "bench", pte, "--threads", threads, "--seconds",
                     args.seconds, "--json")
    report = json.loads(output.splitlines()[-1])
    return {"time": report["p50_seconds"], "processor": report["processor_seconds"]}


def speed_up(args, pte: pathlib.Path, threads: int) -> float:
    report = json.loads(command(*pinned(PROCESSORS), args.two_modules, pte, threads, args.seconds))
    return report["together_per_second"] / report["alone_per_second"]


def inside(group: pathlib.Path) -> list[object]:
    return ["sh", "-c", 'echo $$ > "$1"; shift; "$@"; exit $?', "sh", group / "cgroup.procs"]


def measure(args, pte: pathlib.Path) -> dict[str, float]:
    free = pinned(PROCESSORS)
    one, two = bench(args, pte, 1, free), bench(args, pte, 2, free)
    found = {"us": one["time"] * 1e6, "two / one": two["time"] / one["time"],
             "processor": two["processor"] / one["processor"],
             "apart": speed_up(args, pte, 1), "together": speed_up(args, pte, 2)}
    if args.group:
        limited = inside(args.group)
        found["quota"] = bench(args, pte, 0, limited)["time"] / bench(args, pte, 1, limited)["time"]
    return found


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "two-modules")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--group", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("programs", nargs="*", metavar="NAME", default=SMALL)
    args = parser.parse_args()
    slow = []
    with tempfile.TemporaryDirectory() as scratch:
        work = args.work or pathlib.Path(scratch)
        for word in args.programs:
            pte = program(word, args.petrel, work)
            rounds = [measure(args, pte) for _ in range(args.rounds)]
            row = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
            if word == args.programs[0]:
                print(f"{'':24s}" + "".join(f"{name:>12s}" for name in row))
            if row["two / one"] > MOST:
                slow.append(pte.stem)
            print(f"{pte.stem:24s}{row.pop('us'):12,.0f}" +
                  "".join(f"{ratio:12.2f}" for ratio in row.values()) +
                  (" slower with two" if pte.stem in slow else ""), flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
