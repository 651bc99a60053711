#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What kernels of integers cost in instructions, by their sizes.

  test/perf/kernel_costs [--petrel BINARY] [--target cortex-m4 ...] [--check]

Networks of convolutions of many sizes, with each variant that runs row by row or would run
whole, are profiled step by step on a board of QEMU that counts instructions. What a step
takes is fitted, by least squares without negative parts, to how often its loops run: the
columns of the table in exir/emit_c/kernel_costs.inc, which this prints.

--check tells how far that table is off for each step instead, and fails above 10 %.
"""

import base64
import dataclasses
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Iterator

import numpy
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import export_models  # noqa: E402
from command import Failed, command  # noqa: E402
from models import Model  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

TABLE = ROOT / "exir/emit_c/kernel_costs.inc"
# A board of each target, and the instructions in a tick of its timer under -icount shift=6.
BOARDS = {"cortex-m4": ("qemu-mps2-an386", 25e6), "generic": ("qemu-mps2-an386", 25e6),
          "cortex-m55": ("qemu-mps3-an547", 32e6), "rv32": ("qemu-riscv32", 10e6)}
TARGET_NAMES = {"cortex-m4": "kCortexM4", "generic": "kGeneric", "cortex-m55": "kCortexM55",
                "rv32": "kRv32"}
NANOSECONDS = 64
DENSE = ("im2col-smlad", "im2col-words", "im2col-dot")
DEPTHWISE = ("depthwise-smla", "depthwise-channels")
PRODUCT = re.compile(r"convolution (\d+) x (\d+) x (\d+)x(\d+) -> (\d+) x (\d+)x(\d+), kernel "
                     r"(\d+)x(\d+), stride (\d+)x(\d+), padding (\d+)x(\d+), dilation (\d+)x(\d+), "
                     r"groups (\d+), i8 -> i8")
MOST_ERROR = 0.10
BLOCK = 8 * 24 * 24  # levels of block(), which fit in less than two times that
SUMS = (8 * 16 * 16, 8 * 8 * 8, 8 * 4 * 4)  # elements of the additions of sums()


def dense() -> Model:
    torch.manual_seed(1)
    layers: list[nn.Module] = []
    channels = 8
    for filters, kernel, stride in ((16, 3, 1), (12, 1, 1), (20, 3, 2), (8, 5, 1), (32, 1, 1),
                                    (16, 3, 1), (24, 1, 2), (24, 3, 1), (48, 1, 1), (16, 1, 1)):
        layers += [nn.Conv2d(channels, filters, kernel, stride, kernel // 2), nn.ReLU()]
        channels = filters
    return Model(nn.Sequential(*layers).eval(), [(torch.randn(1, 8, 16, 16),) for _ in range(2)])


def depthwise() -> Model:
    torch.manual_seed(2)
    layers: list[nn.Module] = []
    for kernel, stride in ((3, 1), (5, 1), (3, 1), (3, 2), (5, 1), (3, 1), (3, 2)):
        layers += [nn.Conv2d(16, 16, kernel, stride, kernel // 2, groups=16), nn.ReLU()]
    return Model(nn.Sequential(*layers).eval(), [(torch.randn(1, 16, 20, 20),) for _ in range(2)])


class Sums(nn.Module):
    """Additions of several sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Conv2d(c, c, 1) for c in (8, 8, 8)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = nn.functional.max_pool2d(part(x) + x, 2)
        return x


class Block(nn.Module):
    """Two convolutions whose result is added to what goes in: runs row by row where it must."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(8, 8, 3, padding=1) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(nn.functional.relu(self.first(x)))


def block() -> Model:
    torch.manual_seed(4)
    return Model(Block().eval(), [(torch.randn(1, 8, 24, 24),) for _ in range(2)])


def sums() -> Model:
    torch.manual_seed(3)
    return Model(Sums().eval(), [(torch.randn(1, 8, 16, 16),) for _ in range(2)])


def known(target: str, variant: str) -> numpy.ndarray:
    """The row of the table."""
    for name, own, parts in re.findall(r'\{Target::(\w+), "([\w-]+)", \{([^}]*)\}\}', TABLE.read_text()):
        if (name, own) == (TARGET_NAMES[target], variant):
            return numpy.array([float(part) for part in parts.split(",")])
    raise Failed(f"{TABLE} has no row of {variant} on {target}")


@dataclasses.dataclass
class Step:
    """A step that was measured: what it computes, with which variant, and how long."""

    node: str
    variant: str
    product: str
    instructions: float
    target: str = ""

    def loops(self, by_rows: bool = False) -> list[float]:
        """How often what runs, in one call or in one for each row; the columns of the table."""
        if self.variant.startswith("add"):
            return [1.0, 0, 0, float(self.product), 0]
        match = PRODUCT.fullmatch(self.product)
        assert match, self.product
        (_, channels, _, _, filters, height, width, kernel_height, kernel_width, stride_height, stride_width,
         _, _, _, _, groups) = map(int, match.groups())
        calls = height if by_rows else 1
        places, taps = height * width, kernel_height * kernel_width
        if groups == 1:
            lanes = 16 if (self.target, self.variant) == ("cortex-m55", "im2col-dot") else 4
            words = lanes // 4 * math.ceil(taps * channels / lanes)
            pairs = calls * 2 * math.ceil(places / calls / 2)
            return [calls, pairs * taps, pairs * words, pairs * filters, pairs * filters * words]
        rows = height * kernel_height if by_rows else (height - 1) * stride_height + kernel_height
        row_width = (width - 1) * stride_width + kernel_width
        return [calls, channels * rows * row_width / 4, calls * channels * taps / 4, channels * places / 4,
                channels * places * taps / 4]


class Server:
    """`petrel project serve`."""

    def __init__(self, petrel: pathlib.Path) -> None:
        self.process = subprocess.Popen([petrel, "project", "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def call(self, method: str, **params: object) -> dict[str, str]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"id": 1, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise Failed(answer["error"]["message"])
            if "result" in answer:
                return answer["result"]
        raise Failed(f"the server ended without an answer to {method}")


def profile(petrel: pathlib.Path, project: pathlib.Path) -> dict[str, int]:
    """Ticks of each step, the least of all runs."""
    with Server(petrel) as server:
        server.call("build", project=str(project), driver="profile")
        server.call("open_transport", project=str(project), driver="profile")
        text = b""
        while b"\ndone" not in text and b"failed" not in text:
            data = server.call("read_transport", bytes=4096, timeout_ms=60000)["data"]
            text += base64.b64decode(data)
    ticks: dict[str, int] = {}
    for name, number in re.findall(r"step (\w+), ticks (\d+)", text.decode()):
        ticks[name] = min(int(number), ticks.get(name, sys.maxsize))
    return ticks


@dataclasses.dataclass
class Bench:
    """Where one target is measured."""

    petrel: pathlib.Path
    folder: pathlib.Path
    target: str

    def steps(self, name: str, model: Model, *words: str) -> Iterator[Step]:
        folder = self.folder / re.sub(r"\W+", "_", f"{name} {words}")
        folder.mkdir()
        export_models.write(name, model, folder)
        given = [w for i in (0, 1) for w in ("--calibrate", folder / f"{name}.input_{i}_0.npy")]
        command(self.petrel, "quantize", folder / f"{name}.pt2", *given, "-o", folder / "q.pte",
                "--record", folder / "q.json")
        board, hz = BOARDS[self.target]
        described = json.loads((ROOT / f"exir/board/boards/{board}.json").read_text())
        if self.target == "generic":  # as a Cortex-M0 takes it, in more memory than such a board has
            described["toolchain"]["flags"] = ["-mthumb", "-mcpu=cortex-m0", "-mfloat-abi=soft",
                                               "--specs=nano.specs", "--specs=nosys.specs"]
        (folder / "board.json").write_text(json.dumps(described))
        command(self.petrel, "gen-c", folder / f"{name}.pt2", "--quantize", folder / "q.json",
                "--int8", "integer", "--io-dtype", "int8", "--io-layout", "nhwc", "--target",
                self.target, "--board", folder / "board.json", *words, "-o", folder / "c", "--name", "net")
        command(self.petrel, "project", "create", "--board", folder / "board.json", "--model",
                folder / "c", "-o", folder / "p")
        ticks = profile(self.petrel, folder / "p")
        manifest = json.loads((folder / "c/manifest.json").read_text())
        instructions = {step: count * 1e9 / hz / NANOSECONDS for step, count in ticks.items()}
        (method,) = manifest["methods"]
        for size, (step, count) in zip(SUMS, sorted(
                (s, c) for s, c in instructions.items() if s.endswith("int8_add"))):
            yield Step(step, "add", str(size), count, self.target)
        for row in method["blocks"]:
            step = next(s for s in instructions if s.endswith("_rows"))
            yield Step(step, "add-level", str(BLOCK), instructions[step], self.target)
        for row in method["kernels"]:
            if "step" in row and row["step"] in instructions:
                yield Step(row["node"], row["variant"], row["product"], instructions[row["step"]],
                           self.target)


def fitted(steps: list[Step]) -> numpy.ndarray:
    """Least squares of relative errors, without negative parts."""
    loops = numpy.array([step.loops() for step in steps])
    scale = numpy.array([1 / step.instructions for step in steps])
    used = [c for c in range(loops.shape[1]) if loops[:, c].any()]
    while True:
        found = numpy.linalg.lstsq(loops[:, used] * scale[:, None], numpy.ones(len(steps)),
                                   rcond=None)[0]
        if (found >= 0).all():
            break
        del used[int(found.argmin())]
    result = numpy.zeros(loops.shape[1])
    result[used] = found
    return result


def measured(bench: Bench) -> dict[str, list[Step]]:
    """By variant. A variant that a target has not is measured all the same: C stands for it."""
    steps: dict[str, list[Step]] = {}
    for name, model, variants in (("dense", dense(), DENSE), ("depthwise", depthwise(), DEPTHWISE)):
        for variant in variants:
            steps[variant] = list(bench.steps(name, model, "--kernel", f"*={variant}"))
    steps["add"] = [step for step in bench.steps("sums", sums()) if step.variant == "add"]
    return steps


def added(bench: Bench) -> Step:
    """What the additions of a block take that runs row by row, with all that rows take more: the
    block without what its convolutions take whole."""
    variant = "im2col-words" if bench.target == "cortex-m4" else "im2col-dot"
    alone = bench.steps("block", block(), "--kernel", f"*={variant}")
    words = ("--max-arena-bytes", str(BLOCK * 3 // 2))
    (rows,) = [s for s in bench.steps("block", block(), *words) if s.variant == "add-level"]
    rows.instructions -= sum(step.instructions for step in alone if step.variant == variant)
    return rows


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--target", choices=list(BOARDS), action="append")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failed = False
    for target in args.target or BOARDS:
        with tempfile.TemporaryDirectory() as work:
            bench = Bench(args.petrel, pathlib.Path(work), target)
            steps = measured(bench)
            parts = {variant: known(target, variant) if args.check else fitted(own)
                     for variant, own in steps.items()}
            steps["add-level"] = [added(bench)]
            level = steps["add-level"][0].instructions / BLOCK
            parts["add-level"] = (known(target, "add-level") if args.check
                                  else numpy.array([0, 0, 0, level, 0]))
            for variant, own in steps.items():
                errors = [float(parts[variant] @ step.loops()) / step.instructions - 1 for step in own]
                worst = max(errors, key=abs)
                failed |= args.check and abs(worst) > MOST_ERROR
                row = ", ".join(f"{part:.4g}" for part in parts[variant])
                print(f'{{Target::{TARGET_NAMES[target]}, "{variant}", {{{row}}}}},  '
                      f"// {len(own)} sizes, {worst:+.1%} at most", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
