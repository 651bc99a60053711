#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Petrel beside ExecuTorch, ONNX Runtime, OpenVINO and LiteRT.

  test/perf/peers [--petrel BINARY] [--rounds N] [--threads 1,2] [--int8] [--forty]
                  [--peers wheel,litert] [--resume OUT.json] [--json OUT.json]
                  [--picture OUT.svg] [NAME or MODEL.pt2 ...]

All run the same network with the same inputs in 32-bit floats, or with --int8 in the
same integers (int8_network.py; ONNX files have them as QuantizeLinear and
DequantizeLinear; LiteRT has scales of its own behind sigmoid, softmax and tanh, and what
makes inputs of floats integers and back is not part of its time), each round in a process of its own that is pinned
to as many cores as it has threads, in turn, each round beginning with another one. Petrel
and ExecuTorch are C++ programs; the others run in Python with inputs and outputs bound
ahead, which costs them a few microseconds a run (the row `digits` shows that more than it
shows their speed). Their peak of memory is what came on top of Python and their code. They
have no state: the decoder's cache is an input and an output to them. An engine whose output
differs from eager torch is not timed. Ratios are peer / petrel, medians over the rounds'
ratios: above 1 Petrel is faster, or takes less memory.

--forty times the networks of forty.py, hours of them. --resume OUT.json keeps what that file
has of them, times the rest, and writes it after each.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import agreement  # noqa: E402
import forty  # noqa: E402
import int8_network  # noqa: E402
import networks  # noqa: E402
from command import Failed  # noqa: E402
from peer_sides import PYTHON_PEERS, python_sides  # noqa: E402
from sides import ours, prepare  # noqa: E402
from tool_parser import ToolParser  # noqa: E402


METRICS = ["steady p50", "steady p99", "first run", "load", "load + first run", "processor",
           "peak MB"]
PEERS = ["wheel", *PYTHON_PEERS]
INT8_NAMES = ["digits", "mlp", "mobilenet_v2", "resnet18", "vit_tiny", "resnet50"]


def measured(side, call: networks.Call, threads: int, seconds: float) -> dict[str, float]:
    figures = side.measure(call, threads, seconds)
    return {**figures, "load + first run": figures["load"] + figures["first run"]}


def time_call(table: str, sides: list, call: networks.Call, threads: int, args) -> list[dict]:
    rounds: dict[str, list[dict[str, float]]] = {side.name: [] for side in sides}
    for start in range(args.rounds):
        first = start % len(sides)  # nobody always comes after the same one
        for side in sides[first:] + sides[:first]:
            rounds[side.name].append(measured(side, call, threads, args.seconds))
    names = list(rounds)
    print(f"\n{table}, {threads} thread(s), {args.rounds} rounds, microseconds")
    print(f"  {'':17s}" + "".join(f"{n:>14s}" for n in names) +
          "".join(f"{n + '/petrel':>20s}" for n in names[1:]))
    rows = []
    for metric in METRICS:
        times = {n: statistics.median(r[metric] for r in rounds[n]) for n in names}
        ratios = {n: statistics.median(t[metric] / o[metric] for o, t in
                                       zip(rounds["petrel"], rounds[n])) for n in names[1:]}
        print(f"  {metric:17s}" + "".join(f"{t:14.1f}" for t in times.values()) +
              "".join(f"{r:20.2f}" for r in ratios.values()), flush=True)
        rows.append({"model": table, "threads": threads, "metric": metric,
                     "microseconds": times, "ratios": ratios})
    return rows


def time_network(network: networks.Network, work: pathlib.Path, args) -> list[dict]:
    """Every method with every number of threads; nothing that disagrees."""
    numbers = [int(n) for n in args.threads.split(",")]
    if "wheel" in args.peers:
        sides = prepare(args.petrel, work, network, "xnnpack")
    else:
        sides = [ours(args.petrel, work, network, "xnnpack")]
    for side in sides:
        for threads in numbers:
            side.check(network, threads)
    peers = [p for p in PYTHON_PEERS if p in args.peers]
    rows = []
    for table, call in network.timed.items():
        others = python_sides(work, table, network.stateless[table], numbers, peers)
        for threads in numbers:
            rows += time_call(table, [*sides, *others], call, threads, args)
    return rows


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def summary(rows: list[dict]) -> None:
    print("\ngeometric means of peer / petrel over models and threads, and the worst")
    best: dict[str, list[tuple[float, str]]] = {metric: [] for metric in METRICS}
    for row in rows:
        if row["ratios"]:
            best[row["metric"]].append((min(row["ratios"].values()),
                                        f"{row['model']} x{row['threads']}"))
    for peer in [*PEERS, "the best"]:
        for metric in METRICS:
            found = best[metric] if peer == "the best" else [
                (r["ratios"][peer], f"{r['model']} x{r['threads']}") for r in rows
                if r["metric"] == metric and peer in r["ratios"]]
            if found:
                worst, where = min(found)
                print(f"  {peer:12s}{metric:17s}{geometric_mean([f[0] for f in found]):8.2f}"
                      f"{worst:8.2f}  {where}")


def picture(rows: list[dict], path: pathlib.Path) -> None:
    """Steady ratios, a group of bars for each model and number of threads."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "petrel"
    steady = [r for r in rows if r["metric"] == "steady p50"]
    figure, axes = plt.subplots(figsize=(9, 0.65 * len(steady) + 1.2))
    for p, peer in enumerate(PEERS):
        places = [(i, r["ratios"][peer]) for i, r in enumerate(steady) if peer in r["ratios"]]
        axes.barh([i + (p - 1.5) * 0.21 for i, _ in places], [v for _, v in places],
                  height=0.2, label={"wheel": "ExecuTorch"}.get(peer, peer))
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(range(len(steady)), [f"{r['model']}, {r['threads']} thread(s)" for r in steady])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time of a steady run, peer / Petrel; right of 1 Petrel is faster")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def peer_list(word: str) -> list[str]:
    chosen = word.split(",")
    for peer in chosen:
        if peer not in PEERS:
            raise argparse.ArgumentTypeError(f"'{peer}' is none of {', '.join(PEERS)}")
    return chosen


def chosen_names(args) -> list[str]:
    if args.forty:
        return [*forty.NAMES, *args.names]
    return args.names or (INT8_NAMES if args.int8 else networks.NAMES)


def loaded(name: str, work: pathlib.Path, args) -> networks.Network:
    if name in forty.NAMES and name not in forty.NAMED and args.forty:
        name = str(forty.archive(name, work / "forty"))
    network = next(iter(networks.load(work / "models", [name]).values()))
    return int8_network.quantise(network, work / "models") if args.int8 else network


def kept_rows(args) -> list[dict]:
    if args.resume and args.resume.exists():
        return json.loads(args.resume.read_text())
    return []


def write_rows(rows: list[dict], path: pathlib.Path) -> None:
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(json.dumps(rows, indent=1) + "\n")
    scratch.rename(path)


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--int8", action="store_true", help="the networks in integers")
    parser.add_argument("--forty", action="store_true", help="the networks of forty.py")
    parser.add_argument("--peers", type=peer_list, default=PEERS, help=", ".join(PEERS))
    parser.add_argument("--resume", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", type=networks.name, help=networks.HELP)
    args = parser.parse_args()
    rows = kept_rows(args)
    done = {row["model"].split(".")[0] for row in rows}
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        work = (args.work or pathlib.Path(scratch)).resolve()
        for name in chosen_names(args):
            stem = pathlib.Path(name).stem + ("_int8" if args.int8 else "")
            if stem in done:
                continue
            try:
                rows += time_network(loaded(name, work, args), work, args)
            except (Failed, agreement.Disagreement) as why:
                failed = True
                print(f"\n{stem}: not timed: {why}", flush=True)
            if args.resume:
                write_rows(rows, args.resume)
    if rows:
        summary(rows)
        if args.json:
            write_rows(rows, args.json)
        if args.picture:
            picture(rows, args.picture)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
