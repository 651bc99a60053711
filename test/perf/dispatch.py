#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an instruction and the loading of a program cost, beside the wheel.

  test/perf/dispatch [--petrel BINARY] [--rounds N]

A chain of additions of one element does next to nothing but be dispatched: its
time divided by its length is the cost of an instruction. A program of 500
nodes, each with a weight of its own, is what loading has to verify and set up.
Both runtimes run kernels, with one thread, each its own file of the same
network, in turn; medians over the rounds.
"""

import pathlib
import statistics
import sys
import tempfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import sides  # noqa: E402
import wheel  # noqa: E402
from networks import Call  # noqa: E402
from run import Case, Interop  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LENGTH = 1000
NODES = 500


class Chain(torch.nn.Module):
    """x + y, LENGTH times, each result an operand of the next."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(LENGTH):
            x = x + y
        return x


class ManyWeights(torch.nn.Module):
    """NODES additions and multiplications, each with four weights of its own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.weights = torch.nn.ParameterList(
            torch.nn.Parameter(1 + 0.01 * torch.randn(4)) for _ in range(NODES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i, weight in enumerate(self.weights):
            x = x * weight if i % 2 else x + weight
        return x


MODELS = {
    "chain": (Chain(), [(torch.rand(1), torch.rand(1)) for _ in range(2)]),
    "many_weights": (ManyWeights().eval(), [(torch.rand(4),) for _ in range(2)]),
}


def write(folder: pathlib.Path, name: str) -> None:
    module, examples = MODELS[name]
    torch.export.save(torch.export.export(module, examples[0]), folder / f"{name}.pt2")
    for e, inputs in enumerate(examples):
        for i, tensor in enumerate(inputs):
            np.save(folder / f"{name}.input_{e}_{i}.npy", tensor.numpy())


def sides_of(interop: Interop, name: str) -> list[sides.Side]:
    write(interop.models, name)
    ours = Case(name, "none", "inline", interop.ours / f"{name}.pte")
    theirs = Case(name, "none", "inline", interop.theirs / f"{name}.pte")
    interop.export_ours(ours)
    interop.export_theirs(theirs)
    for case in (ours, theirs):
        counts = interop.worker.describe(case.pte)["forward"]
        print(f"{name}: {case.pte.parent.name:7s} {counts['kernel_calls']} kernels, "
              f"{case.pte.stat().st_size} bytes")
    runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"
    return [sides.Side("petrel", [], [interop.petrel, "bench", ours.pte], ours.pte),
            sides.Side("wheel", [], [runner, theirs.pte], theirs.pte)]


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        interop = Interop(args.petrel, pathlib.Path(scratch), worker, levels=[])
        rows = [("chain", "steady p50", f"ns an instruction, of {LENGTH}", 1e3 / LENGTH),
                ("many_weights", "load", f"us to load {NODES} nodes", 1.0)]
        for name, metric, what, unit in rows:
            both = sides_of(interop, name)
            inputs = sorted(interop.models.glob(f"{name}.input_0_*.npy"))
            call = Call("forward", inputs, [])
            times: dict[str, list[float]] = {side.name: [] for side in both}
            for _ in range(args.rounds):
                for side in both:
                    times[side.name].append(side.measure(call, 1, args.seconds)[metric] * unit)
            ratio = statistics.median(t / o for o, t in zip(times["petrel"], times["wheel"]))
            print(f"{what}: petrel {statistics.median(times['petrel']):.1f}, "
                  f"wheel {statistics.median(times['wheel']):.1f}, wheel / petrel {ratio:.2f}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
