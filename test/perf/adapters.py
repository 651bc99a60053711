#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long another adapter for a loaded module takes, and what memory.

  ./bazelw build //extension/cli:petrel //test/perf:swap_time
  test/perf/adapters [--petrel BINARY] [--swap-time BINARY] [--layers 25] [--adapters 3]

Exports layers of 1024 x 1024 with adapters of rank 8 beside them, 105 MB and 1.6 MB,
for kernels and for XNNPACK, files mapped and read. Makes data for other adapters with
`petrel data build`, and prints the time of loading the module, the median and the
longest time of a swap, and the private memory of the process before and after them.
"""

import json
import pathlib
import statistics
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop")]

from run import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

WIDTH, RANK = 1024, 8


class Layer(torch.nn.Module):
    """A linear layer and what an adapter adds to it."""

    def __init__(self):
        super().__init__()
        self.base = torch.nn.Linear(WIDTH, WIDTH)
        self.lora_a = torch.nn.Linear(WIDTH, RANK, bias=False)
        self.lora_b = torch.nn.Linear(RANK, WIDTH, bias=False)

    def forward(self, x):
        return x + torch.tanh(self.base(x) + self.lora_b(self.lora_a(x)))


def export(layers, number, path):
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[Layer() for _ in range(layers)]).eval()
    torch.manual_seed(number)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "lora" in name:
                value.copy_(torch.randn_like(value) / 32)
    torch.export.save(torch.export.export(model, (torch.ones(1, WIDTH),)), path)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "swap-time")
    parser.add_argument("--layers", type=int, default=25)
    parser.add_argument("--adapters", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for number in range(args.adapters):
            export(args.layers, number, work / f"{number}.pt2")
        for backend in ("none", "xnnpack"):
            program = work / f"{backend}.pte"
            names = [work / f"{backend}.{number}.ptd" for number in range(args.adapters)]
            base = work / f"{backend}.base.ptd"
            command(args.petrel, "export", work / "0.pt2", "-o", program, "--backend", backend,
                    "--weight-keys", "name", "--external", f"*lora*={names[0]}",
                    "--external", f"*={base}")
            for number, name in enumerate(names[1:], 1):
                command(args.petrel, "data", "build", "--from", work / f"{number}.pt2", "--for",
                        program, "-o", name, "--keys", "*lora*")
            # Weights are known by their place in files that were not changed just now.
            time.sleep(2.1)
            for mode, words in (("mapped", []), ("read", ["--file"])):
                found = json.loads(command(args.swap_time, *words, "*lora*", program, base, *names))
                if found["outputs"] != args.adapters:
                    print(f"{found['outputs']} different outputs, must be {args.adapters}")
                    return 1
                print(f"{backend:8s}{mode:8s}load {found['load_ms']:8.1f} ms   swap "
                      f"{statistics.median(found['swap_ms']):7.2f} ms, at most "
                      f"{max(found['swap_ms']):.2f}   private {found['private_bytes']}, after "
                      f"{len(found['swap_ms'])} swaps {found['private_bytes_after']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
