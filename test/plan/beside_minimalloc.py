#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Petrel's planner and MiniMalloc on the same files, on this machine, in one run.

  beside_minimalloc.py --petrel PATH --minimalloc PATH [--timeout S] FILE.CAPACITY.csv ...

Both get the capacity that is part of the file's name, one file at a time on one
core, and are timed as whole processes: by the clock and, in brackets, by the
processor, which is what counts on a machine that does other work as well. The
plans of both are checked here, by comparing all pairs of buffers. Exits with 1
when a plan of ours is missing or invalid.

MiniMalloc is built from its sources (github.com/google/minimalloc).
"""

import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def valid(rows, offsets, capacity) -> bool:
    """Whether no two buffers alive together share a byte."""
    placed = []
    for row in rows:
        offset = offsets.get(row["id"])
        if offset is None or offset < 0 or offset + int(row["size"]) > capacity:
            return False
        placed.append((int(row["lower"]), int(row["upper"]), offset, offset + int(row["size"])))
    for i, (l1, u1, b1, e1) in enumerate(placed):
        for l2, u2, b2, e2 in placed[:i]:
            if l1 < u2 and l2 < u1 and b1 < e2 and b2 < e1:
                return False
    return True


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, timeout):
    """((seconds, seconds of the processor), what it printed or None)."""
    begin, used = time.perf_counter(), processor_seconds()
    try:
        done = subprocess.run([str(word) for word in command], text=True, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        text = done.stdout if done.returncode == 0 else None
    except subprocess.TimeoutExpired:
        text = None
    return (time.perf_counter() - begin, processor_seconds() - used), text


def petrel_offsets(args, file, capacity):
    seconds, text = timed([args.petrel, "plan", file, "--capacity", capacity, "--json"],
                          args.timeout)
    if text is None:
        return seconds, None, None
    plan = json.loads(text)
    return seconds, {b["id"]: b["offset"] for b in plan["buffers"]}, plan


def minimalloc_offsets(args, file, capacity):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.csv"
        seconds, _ = timed([args.minimalloc, f"--capacity={capacity}", f"--input={file}",
                            f"--output={out}"], args.timeout)
        if not out.exists() or out.stat().st_size == 0:
            return seconds, None
        with out.open() as lines:
            return seconds, {row["id"]: int(row["offset"])
                             for row in csv.DictReader(lines, skipinitialspace=True)}


def shown(seconds) -> str:
    return f"{seconds[0]:.3f} ({seconds[1]:.3f})"


def verdict(rows, offsets, capacity) -> str:
    if offsets is None:
        return "none"
    return "valid" if valid(rows, offsets, capacity) else "INVALID"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrel", type=pathlib.Path, required=True)
    parser.add_argument("--minimalloc", type=pathlib.Path, required=True)
    parser.add_argument("--timeout", type=float, default=120, help="seconds per file")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE.CAPACITY.csv")
    args = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    bad = 0
    sums = [(0.0, 0.0), (0.0, 0.0)]
    print("| file | buffers | bound | Petrel peak | Petrel s | plan | MiniMalloc s | plan |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for file in args.files:
        capacity = int(file.name.split(".")[-2])
        with file.open() as lines:
            rows = list(csv.DictReader(lines, skipinitialspace=True))
        ours, offsets, plan = petrel_offsets(args, file, capacity)
        theirs, their_offsets = minimalloc_offsets(args, file, capacity)
        good = verdict(rows, offsets, capacity)
        bad += good != "valid"
        sums = [tuple(map(sum, zip(*pair))) for pair in zip(sums, (ours, theirs))]
        print(f"| {file.name} | {len(rows)} | {plan['lower_bound'] if plan else '?'} | "
              f"{plan['peak'] if plan else '?'} | {shown(ours)} | {good} | {shown(theirs)} | "
              f"{verdict(rows, their_offsets, capacity)} |", flush=True)
    print(f"| sum | | | | {shown(sums[0])} | | {shown(sums[1])} | |")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
