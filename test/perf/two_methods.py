#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a second method costs in the file and in memory.

  ./bazelw build //extension/cli:petrel //test/perf:method_memory
  test/perf/two_methods [--petrel BINARY] [--method-memory BINARY]

Exports a decoder's `decode` alone and with `prefill` beside it, which shares
its weights and its cache. Prints the bytes of both files, and for mapped files and
such that are read the memory that a process has for itself after `decode` alone ran
and after both ran. The aim of the second is at most the first, the other method's
arena and 5 %. Beside it the wheel, its file in its runtime; `added` is what a process
has more than before it loaded the program, and `times` the wheel's divided by ours. Last,
four modules of the program of both, each of which has run `decode`: pages that they all map
count once there.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

import decoder  # noqa: E402
import wheel_exports  # noqa: E402
from run import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

LARGE = decoder.Size(vocabulary=4096, width=512, heads=8, layers=4, context=256, prompt=32)


def added(rows: list[dict], kind: str = "private") -> list[int]:
    return [row[f"{kind}_bytes"] - row[f"{kind}_bytes_before"] for row in rows]


def of_wheel(pte: pathlib.Path, *words: str) -> list[dict]:
    done = subprocess.run([sys.executable, HERE / "wheel_method_memory.py", *words[:-1], pte,
                           *words[-1].split(",")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "method-memory")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for method, program in decoder.programs(LARGE).items():
            torch.export.save(program, work / f"{method}.pt2")
        for backend in ("none", "xnnpack"):
            files = {"one": ["decode"], "two": ["prefill", "decode"]}
            sizes = {}
            for name, methods in files.items():
                pte = work / f"{name}.{backend}.pte"
                words = [w for m in methods for w in ("--method", f"{m}={work / m}.pt2")]
                command(args.petrel, "export", *words, "--backend", backend, "-o", pte)
                sizes[name] = pte.stat().st_size
            print(f"{backend:8s} file: one method {sizes['one']}, two {sizes['two']}, "
                  f"ratio {sizes['two'] / sizes['one']:.4f}")
            wheel = work / f"wheel.{backend}.pte"
            wheel_exports.export({m: work / f"{m}.pt2" for m in files["two"]}, backend, 0, wheel)
            theirs = added(of_wheel(wheel, "decode,prefill"))
            theirs_in_four = added(of_wheel(wheel, "--modules", "4", "decode"), "own")
            for mode, words in (("mapped", []), ("read", ["--file"])):
                found = {}
                for name, methods in files.items():
                    lines = command(args.method_memory, *words, work / f"{name}.{backend}.pte",
                                    *reversed(methods)).splitlines()
                    found[name] = [json.loads(line) for line in lines]
                one, two = found["one"], found["two"]
                allowed = (one[0]["private_bytes"] + two[1]["arena_bytes"]) * 1.05
                print(f"{mode:>8s} private memory: after one {one[0]['private_bytes']}, after both "
                      f"{two[1]['private_bytes']}, the aim {allowed:.0f}, "
                      f"both / aim {two[1]['private_bytes'] / allowed:.3f}; "
                      f"peak {two[1]['peak_bytes']}")
                ours = added(two)
                print(f"         added after one {ours[0]}, the wheel {theirs[0]}, times "
                      f"{theirs[0] / ours[0]:.2f}; after both {ours[1]}, the wheel {theirs[1]}, "
                      f"times {theirs[1] / ours[1]:.2f}", flush=True)
                lines = command(args.method_memory, *words, "--modules", 4,
                                work / f"two.{backend}.pte", "decode").splitlines()
                four = added([json.loads(line) for line in lines], "own")
                print(f"         added by one of four modules {four[0]}, the wheel "
                      f"{theirs_in_four[0]}; by all four {four[3]}, the wheel {theirs_in_four[3]}, "
                      f"times {theirs_in_four[3] / four[3]:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
