#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Petrel beside ExecuTorch, ONNX Runtime and OpenVINO.

  test/perf/peers [--petrel BINARY] [--rounds N] [--threads 1,2]
                  [--json OUT.json] [--picture OUT.svg] [NAME ...]

All four run the same network with the same inputs in 32-bit floats, each round
in a process of its own that is pinned to as many cores as it has threads, in
turn. Petrel and ExecuTorch are C++ programs; the others run in Python with
inputs and outputs bound ahead, which costs them a few microseconds a run (the
row `digits` shows that more than it shows their speed). An engine whose output
differs from eager torch is not timed. Ratios are peer / petrel, medians over
the rounds' ratios: above 1 Petrel is faster.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import agreement  # noqa: E402
import bench  # noqa: E402
import run  # noqa: E402
import wheel  # noqa: E402
from run import Failed, Interop, command  # noqa: E402

METRICS = ["steady p50", "first run", "load"]
PEERS = ["wheel", "onnxruntime", "openvino"]


@dataclasses.dataclass
class OnnxSide:
    """A peer that reads ONNX files."""

    name: str
    onnx: pathlib.Path
    inputs: list[pathlib.Path]

    def words(self, threads: int) -> list[object]:
        cores = ["taskset", "-c", ",".join(map(str, range(threads)))]
        return [*cores, sys.executable, HERE / "peer_runner.py", self.name, self.onnx,
                "--threads", threads, "--inputs", *self.inputs]

    def measure(self, interop: Interop, threads: int, seconds: float) -> dict[str, float]:
        output = command(*self.words(threads), "--seconds", seconds)
        return bench.Side.theirs(json.loads(output.splitlines()[-1]))

    def check(self, interop: Interop, examples: list[run.Example]) -> None:
        def outputs(example: run.Example, out: pathlib.Path) -> None:
            side = dataclasses.replace(self, inputs=example.inputs)
            command(*side.words(1), "--output-dir", out)

        interop.compare(lambda _, e: interop._files(outputs, e), None, examples)


def to_onnx(interop: Interop, model: str) -> pathlib.Path:
    out = interop.work / f"{model}.onnx"
    command(sys.executable, HERE / "to_onnx.py", interop.models / f"{model}.pt2", out)
    return out


def sides_of(interop: Interop, model: str) -> list:
    sides = list(bench.prepare(interop, model, "xnnpack"))
    examples = run.read_examples(interop.models, model)
    try:
        onnx = to_onnx(interop, model)
    except Failed as why:
        print(f"{model}: the ONNX peers are missing: {why}", flush=True)
        return sides
    for name in PEERS[1:]:
        side = OnnxSide(name, onnx, examples[0].inputs)
        try:
            side.check(interop, examples)
            sides.append(side)
        except (Failed, agreement.Disagreement) as why:
            print(f"{model}: {name} is not timed: {why}", flush=True)
    return sides


def time_model(interop: Interop, model: str, sides: list, threads: int, args) -> list[dict]:
    rounds: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for _ in range(args.rounds):
        for side in sides:
            rounds[side.name].append(side.measure(interop, threads, args.seconds))
    names = list(rounds)
    print(f"\n{model}, {threads} thread(s), {args.rounds} rounds, microseconds")
    print(f"  {'':12s}" + "".join(f"{n:>14s}" for n in names) +
          "".join(f"{n + '/petrel':>20s}" for n in names[1:]))
    rows = []
    for metric in METRICS:
        times = {n: statistics.median(r[metric] for r in rounds[n]) for n in names}
        ratios = {n: statistics.median(t[metric] / o[metric] for o, t in
                                       zip(rounds["petrel"], rounds[n])) for n in names[1:]}
        print(f"  {metric:12s}" + "".join(f"{t:14.1f}" for t in times.values()) +
              "".join(f"{r:20.2f}" for r in ratios.values()), flush=True)
        rows.append({"model": model, "threads": threads, "metric": metric,
                     "microseconds": times, "ratios": ratios})
    return rows


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summary(rows: list[dict]) -> None:
    print("\ngeometric means of peer / petrel over models and threads, and the worst")
    for peer in PEERS:
        for metric in METRICS:
            found = [(r["ratios"][peer], f"{r['model']} x{r['threads']}") for r in rows
                     if r["metric"] == metric and peer in r["ratios"]]
            if found:
                worst, where = min(found)
                print(f"  {peer:12s}{metric:12s}{geometric_mean([f[0] for f in found]):8.2f}"
                      f"{worst:8.2f}  {where}")


def picture(rows: list[dict], path: pathlib.Path) -> None:
    """Steady ratios, a group of bars for each model and number of threads."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "petrel"
    steady = [r for r in rows if r["metric"] == "steady p50"]
    figure, axes = plt.subplots(figsize=(9, 0.55 * len(steady) + 1.2))
    for p, peer in enumerate(PEERS):
        places = [(i, r["ratios"][peer]) for i, r in enumerate(steady) if peer in r["ratios"]]
        axes.barh([i + (p - 1) * 0.27 for i, _ in places], [v for _, v in places],
                  height=0.25, label={"wheel": "ExecuTorch"}.get(peer, peer))
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(range(len(steady)), [f"{r['model']}, {r['threads']} thread(s)" for r in steady])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time of a steady run, peer / Petrel; right of 1 Petrel is faster")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrel", type=pathlib.Path,
                        default=run.ROOT / "bazel-bin" / "extension" / "cli" / "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(run.NAMES))
    args = parser.parse_args()
    args.backend = "xnnpack"
    for name in args.names:
        if name not in run.NAMES:
            parser.error(f"unknown model '{name}', known: {', '.join(run.NAMES)}")
    if not os.access(args.petrel, os.X_OK):
        print(f"{args.petrel} is not there; build //extension/cli:petrel first", file=sys.stderr)
        return 1
    rows: list[dict] = []
    failed = False
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        interop = Interop(args.petrel.resolve(), (args.work or pathlib.Path(scratch)).resolve(),
                          worker)
        names = args.names or run.NAMES
        command(sys.executable, run.ROOT / "test" / "models" / "export_models.py",
                "--out", interop.models, *names)
        for name in names:
            try:
                sides = sides_of(interop, name)
                for threads in map(int, args.threads.split(",")):
                    rows += time_model(interop, name, sides, threads, args)
            except (Failed, agreement.Disagreement) as why:
                failed = True
                print(f"\n{name}: not timed: {why}", flush=True)
    if rows:
        summary(rows)
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n")
        if args.picture:
            picture(rows, args.picture)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
