#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What two methods that share their weights cost on disk and in memory.

  ./bazelw build //extension/cli:petrel //test/perf:method_memory
  test/interop/shared_bytes [--petrel BINARY] [--method-memory BINARY]

Exports `decode` alone, `prefill` alone and both of the decoder for XNNPACK, here
and with the wheel. Prints the bytes of a program with its weights inside, for
ours also those of a program and its data file, and what a process has in private
memory more than before it loaded a method, ours the program, after every method ran once: packed
weights, arenas, the runtime's own structures, and pages of the mapped file that
stay resident. For ours also the packed weights alone; the wheel does not tell
its own. Ratios are of both methods to the larger one, and of
ours to the wheel's.
"""

import dataclasses
import json
import pathlib
import sys
import tempfile

import networks
import wheel_exports
from command import command
from tool_parser import ToolParser

SETS = {"decode": ["decode"], "prefill": ["prefill"], "both": ["prefill", "decode"]}
ROWS = ["program with weights", "program and data file", "private memory", "packed weights"]


@dataclasses.dataclass
class Maker:
    """One side: how it exports and what it says of a run."""
    name: str
    work: pathlib.Path
    petrel: pathlib.Path
    method_memory: pathlib.Path

    def figures(self, network: networks.Network, methods: list[str]) -> dict[str, int]:
        archives = {method: network.methods[method] for method in methods}
        stem = f"{self.name}_{'_'.join(methods)}"
        inside = self.work / f"{stem}.pte"
        found = {}
        if self.name == "wheel":
            wheel_exports.export(archives, "xnnpack", 0, inside)
        else:
            words = [w for m, f in archives.items() for w in ("--method", f"{m}={f}")]
            made = [self.petrel, "export", *words, "--backend", "xnnpack", "-o"]
            command(*made, inside)
            beside, data = (self.work / f"{stem}_beside.{kind}" for kind in ("pte", "ptd"))
            command(*made, beside, "--external-weights", data)
            found["program and data file"] = beside.stat().st_size + data.stat().st_size
        found["program with weights"] = inside.stat().st_size
        runs = [self.run(inside, network, methods) for _ in range(3)]
        for key in runs[0]:
            found[key] = min(run[key] for run in runs)
        return found

    def run(self, pte: pathlib.Path, network: networks.Network,
            methods: list[str]) -> dict[str, int]:
        if self.name == "wheel":
            calls = [next(c for c in network.calls if c.method == m) for m in methods]
            words = [w for call in calls for w in ("--call", call.word)]
            share = ["--share-arenas"] if len(methods) > 1 else []
            runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"
            said = json.loads(command(runner, pte, *share, *words).splitlines()[-1])
            return {"private memory": 1024 * (said["private_kb"] - said["private_kb_before"])}
        said = json.loads(command(self.method_memory, pte, *methods).splitlines()[-1])
        return {"private memory": said["private_bytes"] - said["private_bytes_before"],
                "packed weights": said["packed_bytes"]}


def print_table(by_side: dict[str, dict[str, dict[str, int]]]) -> None:
    print(f"{'bytes':28s}{'':8s}" + "".join(f"{name:>14s}" for name in SETS) +
          f"{'both/larger':>13s}{'ours/wheel':>12s}")
    for row in ROWS:
        for side, by_set in by_side.items():
            if row not in by_set["both"]:
                continue
            values = [by_set[name][row] for name in SETS]
            larger = max(by_set["decode"][row], by_set["prefill"][row])
            line = f"{row:28s}{side:8s}" + "".join(f"{value:14d}" for value in values)
            line += f"{values[-1] / larger:13.3f}"
            if side == "petrel" and row in by_side["wheel"]["both"]:
                line += f"{values[-1] / by_side['wheel']['both'][row]:12.3f}"
            print(line, flush=True)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "method-memory")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        network = networks.load(work / "models", ["decoder"])["decoder"]
        by_side = {}
        for side in ("petrel", "wheel"):
            maker = Maker(side, work, args.petrel, args.method_memory)
            by_side[side] = {name: maker.figures(network, methods)
                             for name, methods in SETS.items()}
        print_table(by_side)
    return 0


if __name__ == "__main__":
    sys.exit(main())
