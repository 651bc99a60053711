#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Petrel beside ExecuTorch, ONNX Runtime and OpenVINO.

  test/perf/peers [--petrel BINARY] [--rounds N] [--threads 1,2] [--int8]
                  [--json OUT.json] [--picture OUT.svg] [NAME or MODEL.pt2 ...]

All four run the same network with the same inputs in 32-bit floats, or with --int8 in the
same integers (int8_network.py; ONNX files have them as QuantizeLinear and
DequantizeLinear), each round
in a process of its own that is pinned to as many cores as it has threads, in
turn, each round beginning with another one. Petrel and ExecuTorch are C++ programs; the others run in Python with
inputs and outputs bound ahead, which costs them a few microseconds a run (the
row `digits` shows that more than it shows their speed). They have no state: the
decoder's cache is an input and an output to them. An engine whose output differs
from eager torch is not timed. Ratios are peer / petrel, medians over the rounds'
ratios: above 1 Petrel is faster.
"""

import dataclasses
import json
import math
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import numpy as np  # noqa: E402

import agreement  # noqa: E402
import int8_network  # noqa: E402
import networks  # noqa: E402
from command import Failed, command  # noqa: E402
from sides import Side, pinned, prepare  # noqa: E402
from tool_parser import ToolParser  # noqa: E402


METRICS = ["steady p50", "first run", "load"]
PEERS = ["wheel", "onnxruntime", "openvino"]
INT8_NAMES = ["digits", "mlp", "mobilenet_v2", "resnet18", "vit_tiny", "resnet50"]


@dataclasses.dataclass
class OnnxSide:
    """A peer that reads ONNX files."""

    name: str
    onnx: pathlib.Path
    calls: list[networks.Call]

    def words(self, call: networks.Call, threads: int) -> list[object]:
        return [*pinned(threads), sys.executable, HERE / "peer_runner.py", self.name, self.onnx,
                "--threads", threads, "--inputs", *call.inputs]

    def measure(self, call: networks.Call, threads: int, seconds: float) -> dict[str, float]:
        del call  # its own, with the state among the inputs
        output = command(*self.words(self.calls[0], threads), "--seconds", seconds)
        return Side.theirs(json.loads(output.splitlines()[-1]))

    def check(self, threads: int) -> None:
        for call in self.calls:
            with tempfile.TemporaryDirectory() as out:
                command(*self.words(call, threads), "--output-dir", out)
                count = len(list(pathlib.Path(out).glob("output_*.npy")))
                agreement.compare([np.load(f"{out}/output_{i}.npy") for i in range(count)],
                                  call.expected, call.min_db)


def onnx_sides(work: pathlib.Path, table: str, part: networks.Stateless,
               numbers: list[int]) -> list[OnnxSide]:
    onnx = work / f"{table}.onnx"
    try:
        command(sys.executable, HERE / "to_onnx.py", part.archive, onnx)
    except Failed as why:
        print(f"{table}: the ONNX peers are missing: {why}", flush=True)
        return []
    sides = []
    for name in PEERS[1:]:
        side = OnnxSide(name, onnx, part.calls)
        try:
            for threads in numbers:
                side.check(threads)
            sides.append(side)
        except (Failed, agreement.Disagreement) as why:
            print(f"{table}: {name} is not timed: {why}", flush=True)
    return sides


def time_call(table: str, sides: list, call: networks.Call, threads: int, args) -> list[dict]:
    rounds: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for start in range(args.rounds):
        first = start % len(sides)  # nobody always comes after the same one
        for side in sides[first:] + sides[:first]:
            rounds[side.name].append(side.measure(call, threads, args.seconds))
    names = list(rounds)
    print(f"\n{table}, {threads} thread(s), {args.rounds} rounds, microseconds")
    print(f"  {'':12s}" + "".join(f"{n:>14s}" for n in names) +
          "".join(f"{n + '/petrel':>20s}" for n in names[1:]))
    rows = []
    for metric in METRICS:
        times = {n: statistics.median(r[metric] for r in rounds[n]) for n in names}
        ratios = {n: statistics.median(t[metric] / o[metric] for o, t in
                                       zip(rounds["petrel"], rounds[n])) for n in names[1:]}
        print(f"  {metric:12s}" + "".join(f"{t:14.1f}" for t in times.values()) +
              "".join(f"{r:20.2f}" for r in ratios.values()), flush=True)
        rows.append({"model": table, "threads": threads, "metric": metric,
                     "microseconds": times, "ratios": ratios})
    return rows


def time_network(network: networks.Network, work: pathlib.Path, args) -> list[dict]:
    """Every method with every number of threads; nothing that disagrees."""
    numbers = [int(n) for n in args.threads.split(",")]
    sides = prepare(args.petrel, work, network, "xnnpack")
    for side in sides:
        for threads in numbers:
            side.check(network, threads)
    rows = []
    for table, call in network.timed.items():
        peers = onnx_sides(work, table, network.stateless[table], numbers)
        for threads in numbers:
            rows += time_call(table, [*sides, *peers], call, threads, args)
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
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--int8", action="store_true", help="the networks in integers")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", type=networks.name, help=networks.HELP)
    args = parser.parse_args()
    rows: list[dict] = []
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        work = (args.work or pathlib.Path(scratch)).resolve()
        default = INT8_NAMES if args.int8 else networks.NAMES
        found = networks.load(work / "models", args.names or default)
        for name, network in found.items():
            try:
                if args.int8:
                    network = int8_network.quantise(network, work / "models")
                rows += time_network(network, work, args)
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
