#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts delegate calls and leftover kernels beside the wheel's partitioner.

  test/interop/delegates [--petrel BINARY] [--work DIR] [--markdown] [NAME or MODEL.pt2 ...]

For every method of every network, exported for XNNPACK by both, the calls of
the two programs as the wheel's own reader sees them. A row fails when ours has
more delegate calls or more kernels, or cannot be made; the exit status is 1
then. The wheel's exports are kept between runs (wheel_exports.py), since
lowering takes it minutes.
"""

import pathlib
import sys
import tempfile

import networks
import sides
import wheel
import wheel_exports
from command import Failed, command
from tool_parser import ToolParser

COUNTS = ["delegate_calls", "kernel_calls"]


def counts_of(petrel: pathlib.Path, work: pathlib.Path, network: networks.Network,
              worker: wheel.Worker) -> list[dict]:
    """By method, ours and the wheel's."""
    ours, theirs = work / f"{network.name}.petrel.pte", work / f"{network.name}.wheel.pte"
    command(petrel, "export", *sides.export_words(network), "--backend", "xnnpack", "-o", ours)
    wheel_exports.export(network.methods, "xnnpack", 0, theirs)
    return [worker.describe(pte) for pte in (ours, theirs)]


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--markdown", action="store_true", help="as a table for the docs")
    parser.add_argument("names", nargs="*", metavar="NAME", type=networks.name, help=networks.HELP)
    args = parser.parse_args()
    passed = failed = 0
    if args.markdown:
        print("| method | calls, Petrel | calls, wheel | kernels, Petrel | kernels, wheel |")
        print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        work = (args.work or pathlib.Path(scratch)).resolve()
        found = networks.load(work / "models", args.names or networks.NAMES)
        for name, network in found.items():
            try:
                ours, theirs = counts_of(args.petrel, work, network, worker)
            except (Failed, wheel_exports.ExportError, wheel.WheelError) as why:
                failed += 1
                print(f"FAIL  {name}: {why}", flush=True)
                continue
            for method in network.methods:
                label = name if method == "forward" else f"{name}.{method}"
                pairs = [(ours[method][c], theirs[method][c]) for c in COUNTS]
                ok = all(o <= t for o, t in pairs)
                passed += ok
                failed += not ok
                if args.markdown:
                    print(f"| {label} | " + " | ".join(f"{o} | {t}" for o, t in pairs) + " |")
                    continue
                (calls, kernels) = pairs
                print(f"{'ok  ' if ok else 'FAIL'}  {label:18s} delegate calls {calls[0]:3d}, "
                      f"wheel {calls[1]:3d}   kernels {kernels[0]:3d}, wheel {kernels[1]:3d}",
                      flush=True)
    print(f"\n{passed} passed, {failed} failed", file=sys.stderr if args.markdown else sys.stdout)
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
