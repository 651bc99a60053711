#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a second method and another adapter over a loaded base take to load.

  ./bazelw build //extension/cli:petrel //test/perf:load_times
  test/perf/second_loads [--petrel BINARY] [--load-times BINARY]

Exports a decoder's `prefill` and `decode`, which share their weights, and a chain of
products of 100 MB with two low-rank adapters in files of their own. Prints the median
milliseconds of each load over five processes, with files that are mapped, read, and in
memory. Files that were changed within the last two seconds are packed again,
which is what every load did before bytes were known by their place: those are the
figures "packed again".
"""

import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import decoder  # noqa: E402
from run import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LARGE = decoder.Size(vocabulary=4096, width=768, heads=8, layers=6, context=256, prompt=32)
MODES = {"mapped": [], "read": ["--file"], "in memory": ["--memory"]}


class Adapted(nn.Module):
    """A product with an adapter of rank 8 beside it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.base = nn.Linear(width, width)
        self.lora_a = nn.Linear(width, 8, bias=False)
        self.lora_b = nn.Linear(8, width, bias=False)

    def forward(self, x):
        return torch.relu(self.base(x) + self.lora_b(self.lora_a(x)))


def export_adapters(petrel: pathlib.Path, work: pathlib.Path) -> list[str]:
    """What load_times loads for each of two adapters."""
    torch.manual_seed(0)
    model = nn.Sequential(*[Adapted(2048) for _ in range(6)]).eval()
    words = []
    for name in ("first", "second"):
        for layer in model:
            nn.init.normal_(layer.lora_a.weight)
            nn.init.normal_(layer.lora_b.weight)
        torch.export.save(torch.export.export(model, (torch.zeros(1, 2048),)), work / "lora.pt2")
        (work / name).mkdir()
        command(petrel, "export", work / "lora.pt2", "--backend", "xnnpack", "-o",
                work / name / "lora.pte", "--weight-keys", "name",
                "--external", f"*lora*={work / name}/adapter.ptd", "--external",
                f"*={work / name}/base.ptd")
        first = work / "first"
        words.append(f"{first}/lora.pte+{first}/base.ptd+{work / name}/adapter.ptd:forward")
    return words


def median_times(binary: pathlib.Path, mode: list[str], words: list[str], files: list[pathlib.Path],
                 fresh: bool) -> list[dict]:
    runs = []
    for _ in range(5):
        for file in files:
            if fresh:
                os.utime(file)
        output = command(binary, *mode, *words)
        runs.append([json.loads(line) for line in output.splitlines()])
    last = runs[-1]
    for i, load in enumerate(last):
        load["ms"] = statistics.median(run[i]["ms"] for run in runs)
    return last


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "load-times")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        methods = decoder.programs(LARGE)
        for method, program in methods.items():
            torch.export.save(program, work / f"{method}.pt2")
        words = [w for m in methods for w in ("--method", f"{m}={work / m}.pt2")]
        command(args.petrel, "export", *words, "--backend", "xnnpack", "-o", work / "two.pte")
        loads = {"second method": [f"{work}/two.pte:prefill", f"{work}/two.pte:decode"],
                 "another adapter": export_adapters(args.petrel, work)}
        files = [*work.rglob("*.pte"), *work.rglob("*.ptd")]
        for what, words in loads.items():
            for mode, flags in MODES.items():
                times = {}
                for fresh in (True, False):
                    if fresh and mode == "in memory":
                        continue  # memory cannot look as if it were changed
                    if not fresh:
                        time.sleep(2.1)
                    first, second = median_times(args.load_times, flags, words, files, fresh)
                    times[fresh] = second["ms"]
                    print(f"{what}, {mode:9s} {'packed again' if fresh else 'known':12s}: "
                          f"first {first['ms']:.1f} ms, then {second['ms']:.1f} ms; peak "
                          f"{first['peak_bytes'] / 1e6:.0f}, then {second['peak_bytes'] / 1e6:.0f} "
                          f"MB", flush=True)
                if len(times) == 2:
                    print(f"{what}, {mode:9s} ratio {times[True] / times[False]:.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
