#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near layers come to what the processor can do, on one thread.

  ./bazelw build //extension/cli:petrel //test/perf:machine_limits
  test/perf/roofline [--isa native,avx2] [--rounds N] [--against BINARY] [LAYER ...]

A layer's time is what a network of three of them takes more than one of one, halved, so that what
happens at inputs and outputs does not count; layers that change the size are timed alone
(marked *). Its limit is the slowest of these, measured with the same instructions in the same run:
a loop of as many multiply-adds and nothing else; for products, reading as many bytes as the weights
have; for what is computed element by element, a copy of as many bytes, and for a sigmoid a loop of
ten multiply-adds and a division for each vector. An exponential counts as ten multiply-adds. Shares above 1 are Winograd's, which multiplies
less. The wheel runs the same networks with XNNPACK as its authors
build it, with all the processor has; --against puts another build of petrel in its place.
The fastest run of all rounds counts.
"""

import dataclasses
import json
import pathlib
import sys
import tempfile
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))

import torch  # noqa: E402
from torch import nn  # noqa: E402

import networks  # noqa: E402
from command import Failed, command  # noqa: E402
from sides import prepare  # noqa: E402
from tool_parser import ToolParser  # noqa: E402


@dataclasses.dataclass
class Layer:
    make: Callable[[], nn.Module]
    input: tuple[int, ...]
    multiply_adds: int = 0  # 0: its limit is that of copying
    streams: int = 2  # arrays of the input's size that it reads or writes
    weights: int = 0  # bytes, of which each is read once
    quotients: int = 0  # elements that are divided
    exponentials: int = 0
    alone: bool = False

    @property
    def bytes(self) -> int:
        return 4 * self.streams * torch.Size(self.input).numel()

    def least(self, limits: dict, isa: str) -> float:
        """Microseconds that it takes at the processor's limit."""
        if not self.multiply_adds:
            times = [self.bytes / limits["copies"][str(self.bytes)],
                     self.quotients / limits["quotients"][isa]]
        else:
            times = [(self.multiply_adds + 10 * self.exponentials) / limits[isa]]
            if self.weights:
                times.append(self.weights / limits["reads"][str(self.weights)])
        return max(times) / 1e3


class Scale(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.rand(channels) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factors


class Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(x, x, x)


def product(rows: int, width: int) -> Layer:
    return Layer(lambda: nn.Linear(width, width), (rows, width), rows * width * width,
                 weights=4 * width * width)


def convolution(side: int, channels: int, kernel: int, groups: int = 1) -> Layer:
    return Layer(
        lambda: nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=groups),
        (1, channels, side, side), side * side * channels * channels // groups * kernel**2)


LAYERS = {
    **{f"product of {rows} rows, 512 wide": product(rows, 512) for rows in (1, 8, 50, 200)},
    "product of 1,000 rows, 256 wide": product(1000, 256),
    "product of 98 rows, 1,024 wide": product(98, 1024),
    "1x1, 28 x 28 x 128": convolution(28, 128, 1),
    "3x3, 56 x 56 x 16": convolution(56, 16, 3),
    "3x3, 28 x 28 x 64": convolution(28, 64, 3),
    "3x3, 7 x 7 x 256": convolution(7, 256, 3),
    "3x3 in 16 groups, 28 x 28 x 128": convolution(28, 128, 3, 16),
    "3x3 in 32 groups, 28 x 28 x 128": convolution(28, 128, 3, 32),
    "3x3 in 24 groups, 7 x 7 x 384": convolution(7, 384, 3, 24),
    "1x1 in 3 groups, 28 x 28 x 240": convolution(28, 240, 1, 3),
    "depthwise 3x3, 28 x 28 x 144": convolution(28, 144, 3, 144),
    "depthwise 5x5, 28 x 28 x 144": convolution(28, 144, 5, 144),
    "depthwise 7x7, 28 x 28 x 96": convolution(28, 96, 7, 96),
    "transposed 2x2 of stride 2, 28 x 28 x 64": Layer(
        lambda: nn.ConvTranspose2d(64, 64, 2, 2), (1, 64, 28, 28), 28 * 28 * 64 * 64 * 4,
        alone=True),
    "first 3x3 of stride 2, 224 x 224 x 3 to 32": Layer(
        lambda: nn.Conv2d(3, 32, 3, 2, 1), (1, 3, 224, 224), 112 * 112 * 32 * 27, alone=True),
    "attention, 4 heads, 200 x 64": Layer(
        Attention, (1, 4, 200, 64), 2 * 4 * 200 * 200 * 64, exponentials=4 * 200 * 200),
    "sigmoid, 802,816 floats": Layer(nn.Sigmoid, (1, 64, 112, 112), quotients=802816),
    "hardswish, 100,352 floats": Layer(nn.Hardswish, (1, 128, 28, 28)),
    "leaky ReLU, 100,352 floats": Layer(lambda: nn.LeakyReLU(0.1), (1, 128, 28, 28)),
    "scale of channels, 8,192 rows of 12": Layer(lambda: Scale(12), (8192, 12)),
}


def archive(work: pathlib.Path, layer: Layer, count: int) -> pathlib.Path:
    path = work / f"layer_{len(list(work.glob('*.pt2')))}.pt2"
    torch.manual_seed(0)
    network = nn.Sequential(*[layer.make() for _ in range(count)]).eval()
    torch.export.save(torch.export.export(network, (torch.randn(layer.input),)), path)
    return path


@dataclasses.dataclass
class Runner:
    """One network on one side."""

    bench: list[object]
    side: object
    call: networks.Call
    best: float = float("inf")  # microseconds

    def run(self, seconds: float) -> None:
        self.side.bench = self.bench
        self.best = min(self.best, self.side.measure(self.call, 1, seconds)["steady min"])


def measure(layer: Layer, work: pathlib.Path, args) -> dict[str, float]:
    """Microseconds of the layer by side."""
    runners: dict[tuple[str, int], Runner] = {}
    for count in [1] if layer.alone else [1, 3]:
        path = archive(work, layer, count)
        network = networks.load(work, [str(path)])[path.stem]
        for side in prepare(args.petrel, work, network, "xnnpack", args.against):
            side.check(network, 1)
            call = network.calls[0]
            if not side.is_petrel:
                runners["wheel", count] = Runner(side.bench, side, call)
                continue
            for isa in args.isa.split(","):
                name = isa if side.name == "petrel" else f"other {isa}"
                runners[name, count] = Runner([*side.bench, "--isa", isa], side, call)
    for _ in range(args.rounds):
        for runner in runners.values():
            runner.run(args.seconds)
    names = dict.fromkeys(name for name, _ in runners)
    if layer.alone:
        return {name: runners[name, 1].best for name in names}
    return {name: max((runners[name, 3].best - runners[name, 1].best) / 2, 1e-3)
            for name in names}


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "machine-limits")
    parser.add_argument("--isa", default="native,avx2", help="levels of petrel bench --isa")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--against", type=pathlib.Path, help="another build of petrel")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help="parts of their names")
    args = parser.parse_args()
    if unknown := set(args.isa.split(",")) - {"native", "avx2"}:
        parser.error(f"no limit is known of {', '.join(sorted(unknown))}")
    chosen = {n: l for n, l in LAYERS.items() if not args.layers or any(w in n for w in args.layers)}
    sizes = sorted({size for layer in chosen.values() for size in (layer.bytes, layer.weights)
                    if size})
    limits = json.loads(command(args.machine_limits, *sizes))
    print("limits, multiply-adds per ns: "
          + ", ".join(f"{isa} {limits[isa]}" for isa in args.isa.split(",")))
    failed = False
    for name, layer in chosen.items():
        with tempfile.TemporaryDirectory() as work:
            try:
                times = measure(layer, pathlib.Path(work), args)
            except Failed as why:
                failed = True
                print(f"{name}: not timed: {why}", flush=True)
                continue
        cells = ""
        for side, time in times.items():
            isa = "native" if side == "wheel" else side.split()[-1]
            cells += f"  {side} {time:.1f} us, {layer.least(limits, isa) / time:.2f}"
        print(f"{name + (' *' if layer.alone else ''):46s}{cells}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
