#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a second method costs in the file and in memory.

  ./bazelw build //extension/cli:petrel //test/perf:method_memory
  test/perf/two_methods [--petrel BINARY] [--method-memory BINARY]

Exports a decoder's `decode` alone and with `prefill` beside it, which shares
its weights and its cache. Prints the bytes of both files, and the memory that a
process has for itself after `decode` alone ran and after both ran. The aim of
the second is at most the first, the other method's arena and 5 %.
"""

import json
import pathlib
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import decoder  # noqa: E402
from run import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LARGE = decoder.Size(vocabulary=4096, width=512, heads=8, layers=4, context=256, prompt=32)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "method-memory")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for method, program in decoder.programs(LARGE).items():
            torch.export.save(program, work / f"{method}.pt2")
        for backend in ("none", "xnnpack"):
            files = {"one": ["decode"], "two": ["prefill", "decode"]}
            found = {}
            for name, methods in files.items():
                pte = work / f"{name}.{backend}.pte"
                words = [w for m in methods for w in ("--method", f"{m}={work / m}.pt2")]
                command(args.petrel, "export", *words, "--backend", backend, "-o", pte)
                lines = command(args.method_memory, pte, *reversed(methods)).splitlines()
                found[name] = (pte.stat().st_size, [json.loads(line) for line in lines])
            (one_bytes, one), (two_bytes, two) = found["one"], found["two"]
            allowed = (one[0]["private_bytes"] + two[1]["arena_bytes"]) * 1.05
            print(f"{backend:8s} file: one method {one_bytes}, two {two_bytes}, "
                  f"ratio {two_bytes / one_bytes:.4f}")
            print(f"{'':8s} private memory: after one {one[0]['private_bytes']}, after both "
                  f"{two[1]['private_bytes']}, the aim {allowed:.0f}, "
                  f"both / aim {two[1]['private_bytes'] / allowed:.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
