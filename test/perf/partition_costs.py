#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the partitioner's table of costs says, and prints the table.

  test/perf/partition_costs [--petrel BINARY] [--rounds N] [--seconds S]

For each family of operators, chains of 1 and of 9 nodes are exported for
kernels and for XNNPACK, at two sizes, and timed on one thread: the difference
is what 8 nodes take, whatever a call of the method costs. Two sizes give a part
per node and a part per unit of work (an element, or a multiply-add). What is
left of the chain of one node, beyond the node and a method's call, is the cost
of calling a delegate. A comment at the end says what an argument more costs.

The table belongs into backends/xnnpack/aot/cost_table.inc. It is committed, so
that exports depend on no clock. Times are the best of the rounds.
"""

import dataclasses
import json
import pathlib
import statistics
import sys
import tempfile
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

from command import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LENGTH = 9
Step = Callable[[torch.Tensor], torch.Tensor]


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module | Step]) -> None:
        super().__init__()
        self.steps = steps
        self.modules_of_steps = nn.ModuleList(s for s in steps if isinstance(s, nn.Module))

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Beside(nn.Module):
    """Independent inputs and outputs of one delegate call."""

    def forward(self, *xs):
        return tuple(torch.abs(x) for x in xs)


@dataclasses.dataclass
class Family:
    """A step at size `n`, its input, and its units of work."""

    name: str
    step: Callable[[int], nn.Module | Step]
    shape: Callable[[int], tuple]
    work: Callable[[int], int]
    sizes: tuple[int, int]
    # The family of a second node in the step, whose cost is taken off again. It
    # is there because chains of nothing but the first would be simplified.
    beside: str = ""


def convolution(n: int, groups: int) -> nn.Module:
    return nn.Conv2d(n, n, 3, padding=1, groups=groups)


def flat(n: int) -> tuple:
    return (1, n)


FLAT = (256, 65536)
FAMILIES = [
    Family("kCheap", lambda n: torch.abs, flat, lambda n: n, FLAT),
    Family("kBinary", lambda n: lambda x: x * 1.01, flat, lambda n: n, FLAT),
    Family("kRoot", lambda n: torch.sqrt, flat,
           lambda n: n, FLAT),
    Family("kTranscendental", lambda n: torch.sigmoid, flat, lambda n: n, FLAT),
    Family("kGelu", lambda n: F.gelu, flat, lambda n: n, FLAT),
    Family("kSoftmax", lambda n: lambda x: torch.softmax(x, -1), lambda n: (n, 64),
           lambda n: 64 * n, (4, 1024)),
    Family("kNorm", lambda n: lambda x: F.layer_norm(x, (192,)) * 1.01, lambda n: (n, 192),
           lambda n: 192 * n, (4, 512), beside="kBinary"),
    Family("kMove", lambda n: lambda x: torch.abs(x.transpose(1, 2)), lambda n: (1, n, n),
           lambda n: n * n, (16, 256), beside="kCheap"),
    Family("kMean", lambda n: lambda x: x * x.mean((2, 3), keepdim=True), lambda n: (1, n, 8, 8),
           lambda n: 64 * n, (4, 512), beside="kBinary"),
    Family("kPool", lambda n: lambda x: F.max_pool2d(x, 3, 1, 1), lambda n: (1, 16, n, n),
           lambda n: 16 * 9 * n * n, (4, 32)),
    Family("kProduct", lambda n: nn.Linear(n, n), lambda n: (1, 32, n), lambda n: 32 * n * n,
           (16, 256)),
    Family("kVectorProduct", lambda n: nn.Linear(n, n), lambda n: (1, n), lambda n: n * n,
           (16, 256)),
    Family("kConvolution", lambda n: convolution(n, 1), lambda n: (1, n, 14, 14),
           lambda n: 9 * 196 * n * n, (8, 64)),
    Family("kDepthwise", lambda n: convolution(n, n), lambda n: (1, n, 14, 14),
           lambda n: 9 * 196 * n, (8, 256)),
    Family("kBatchProduct", lambda n: lambda x: torch.bmm(x, x), lambda n: (4, n, n),
           lambda n: 4 * n**3, (8, 96)),
    Family("kAttention", lambda n: lambda x: F.scaled_dot_product_attention(x, x, x),
           lambda n: (1, 3, n, 64), lambda n: 2 * 3 * 64 * n * n, (8, 128)),
]


class Bench:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path, rounds: int, seconds: float):
        self.petrel, self.work, self.rounds, self.seconds = petrel, work, rounds, seconds

    def export(self, module: nn.Module, inputs: tuple, backend: str) -> tuple[pathlib.Path, int]:
        """The program, and the kernels in it."""
        archive, program = self.work / "m.pt2", self.work / f"{backend}.pte"
        torch.export.save(torch.export.export(module.eval(), inputs), archive)
        whole = ["--partition", "supported"] if backend == "xnnpack" else []
        report = json.loads(command(self.petrel, "export", archive, "-o", program, "--backend",
                                    backend, *whole, "--json"))
        return program, sum(report["methods"][0]["kernels"].values())

    def best(self, programs: list[pathlib.Path]) -> list[float]:
        """Microseconds, taken in turn."""
        best = [float("inf")] * len(programs)
        for _ in range(self.rounds):
            for i, program in enumerate(programs):
                report = json.loads(command(self.petrel, "bench", program, "--threads", 1,
                                            "--seconds", self.seconds, "--json"))
                best[i] = min(best[i], report["min_seconds"] * 1e6)
        return best

    def times(self, module: nn.Module, inputs: tuple) -> dict[str, float]:
        """With kernels alone and with XNNPACK alone."""
        programs = {}
        for backend in ("none", "xnnpack"):
            programs[backend], left = self.export(module, inputs, backend)
            if (backend == "xnnpack") != (left == 0):
                raise SystemExit(f"{module}: {left} kernels with backend {backend}")
        return dict(zip(programs, self.best(list(programs.values()))))

    def node(self, family: Family, n: int) -> tuple[dict[str, float], dict[str, float]]:
        """Of a node, and of the chain of one."""
        x = torch.rand(family.shape(n)) + 0.5
        one = self.times(Chain([family.step(n)]), (x,))
        many = self.times(Chain([family.step(n) for _ in range(LENGTH)]), (x,))
        return {b: max(0.0, (many[b] - one[b]) / (LENGTH - 1)) for b in one}, one


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(args.petrel, pathlib.Path(scratch), args.rounds, args.seconds)
        calls = []
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for family in FAMILIES:
            small, one = bench.node(family, family.sizes[0])
            large, _ = bench.node(family, family.sizes[1])
            units = [family.work(n) for n in family.sizes]
            cells = []
            for backend in ("none", "xnnpack"):
                per_unit = max(0.0, large[backend] - small[backend]) / (units[1] - units[0])
                fixed = max(0.0, small[backend] - per_unit * units[0])
                if family.beside:
                    off = found[family.beside][backend]
                    fixed, per_unit = max(0.0, fixed - off[0]), max(0.0, per_unit - off[1])
                found.setdefault(family.name, {})[backend] = (fixed, per_unit)
                cells += [f"{fixed * 1e3:.0f}", f"{per_unit * 1e6:.1f}"]
            print(f"{{Family::{family.name}, {', '.join(cells)}}},", flush=True)
            # A chain of one: call of the method + node (+ call of the delegate).
            if len(calls) < 3:  # elementwise: no layouts to change at the border
                calls.append(one["xnnpack"] - small["xnnpack"] - (one["none"] - small["none"]))
        xs = [tuple(torch.rand(1, 16) for _ in range(count)) for count in (1, 9)]
        few, many = (bench.times(Beside(), x) for x in xs)
        pairs = ((many["xnnpack"] - few["xnnpack"]) - (many["none"] - few["none"])) / 8
        print(f"{{Family::kCall, 0, 0, {max(0.0, statistics.median(calls)) * 1e3:.0f}, 0}},")
        print(f"// an input and an output beside a node: {pairs * 1e3:.0f} ns more than a kernel")
    return 0


if __name__ == "__main__":
    sys.exit(main())
