#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges programs whose sizes vary, and programs with control flow, with the
ExecuTorch wheel; every call is compared with eager torch.

  python3 test/interop/varying.py --petrel BINARY [NAME ...]

For each model of test/models/varying_models.py and {none, xnnpack}:

  petrel -> petrel   our file in our runtime
  petrel -> python   our file in the wheel's Python runtime
  wheel  -> petrel   the wheel's file in our runtime

One line each, then "N passed, N failed"; the exit status is 1 when anything
failed. A direction that the wheel cannot take part in because its own compiler
refuses the model is shown with the reason and counts as neither. Its compiler may
also make a file for fewer sizes than the model has: calls that its own runtime
refuses with its own file are left out, and the line says how many. One call has
the sizes that the model was exported with, which every file must take.
"""

import argparse
import logging
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "models"))

import varying_models  # noqa: E402
import wheel  # noqa: E402

MAX_ERROR = 1e-4  # of the largest expected magnitude


def check(actual, expected) -> float:
    worst = 0.0
    if len(actual) != len(expected):
        raise ValueError(f"{len(actual)} outputs, expected {len(expected)}")
    for i, (a, e) in enumerate(zip(actual, expected)):
        # Outputs that are ints are numbers without a dim.
        e = e.numpy() if isinstance(e, torch.Tensor) else np.asarray(e)
        if a.shape != e.shape or a.dtype != e.dtype:
            raise ValueError(f"output {i} is {a.dtype}{a.shape}, expected {e.dtype}{e.shape}")
        if e.size == 0:
            continue
        error = float(np.abs(a.astype(np.float64) - e).max() / max(np.abs(e).max(), 1e-6))
        if not error <= MAX_ERROR:
            raise ValueError(f"output {i} has error {error:.2e}")
        worst = max(worst, error)
    return worst


def run_petrel(petrel, pte: pathlib.Path, arguments, work: pathlib.Path):
    words = [petrel, "run", str(pte)]
    for i, tensor in enumerate(arguments):
        np.save(work / f"in_{i}.npy", tensor.numpy())
        words += ["--input", str(work / f"in_{i}.npy")]
    out = pathlib.Path(tempfile.mkdtemp(dir=work))
    done = subprocess.run([*words, "--output-dir", str(out)], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    files = sorted(out.glob("output_*.npy"), key=lambda f: int(f.stem.split("_")[1]))
    return [np.load(f) for f in files]


def wheel_export(program, backend: str, path: pathlib.Path) -> None:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    partitioner = [XnnpackPartitioner()] if backend == "xnnpack" else []
    manager = to_edge_transform_and_lower(program, partitioner=partitioner)
    manager.to_executorch().save(str(path))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--petrel", required=True)
    parser.add_argument("names", nargs="*", default=[])
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with wheel.Worker() as worker, tempfile.TemporaryDirectory() as folder:
        passed, failed = compare_all(options, worker, pathlib.Path(folder))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def numpy_call(call):
    return [t.numpy() for t in call]


def taken_by_wheel(worker, pte: pathlib.Path, calls) -> list[int]:
    """The calls that the wheel's runtime does not refuse."""
    taken = []
    for i, call in enumerate(calls):
        try:
            worker.run(pte, None, [numpy_call(call)])
            taken.append(i)
        except wheel.WheelError:
            pass
    return taken


def compare_all(options, worker, work: pathlib.Path) -> tuple[int, int]:
    passed = failed = 0
    for name in options.names or varying_models.MODELS:
        program, calls, results = varying_models.export(name)
        example = program.example_inputs[0]
        with torch.no_grad():
            made = program.module()(*example)
        calls = [*calls, example]
        results = [*results, [made] if isinstance(made, torch.Tensor) else list(made)]
        pt2 = work / f"{name}.pt2"
        torch.export.save(program, pt2)
        for backend in ("none", "xnnpack"):
            ours, theirs = work / f"{name}.{backend}.pte", work / f"{name}.{backend}.wheel.pte"

            def export():
                done = subprocess.run(
                    [options.petrel, "export", str(pt2), "-o", str(ours), "--backend", backend],
                    capture_output=True, text=True)  # fmt: skip
                if done.returncode != 0:
                    raise ValueError(done.stderr.strip())

            def in_petrel(pte, which):
                return [run_petrel(options.petrel, pte, calls[i], work) for i in which]

            everything = list(range(len(calls)))
            refused, taken = "", everything
            try:
                with torch.no_grad():
                    wheel_export(program, backend, theirs)
                taken = taken_by_wheel(worker, theirs, calls)
                if not taken:
                    refused = "its own runtime refuses every call"
            except Exception as error:  # whatever its compiler throws
                refused = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:90]}"
            for direction, which, work_of in (
                ("petrel -> petrel", everything, lambda: (export(), in_petrel(ours, everything))[1]),
                ("petrel -> python", everything,
                 lambda: worker.run(ours, None, [numpy_call(call) for call in calls])),
                ("wheel  -> petrel", taken, lambda: in_petrel(theirs, taken)),
            ):
                label = f"{name:14} {backend:8} {direction}"
                if direction.startswith("wheel") and refused:
                    print(f"{label}   not made: {refused}")
                    continue
                try:
                    outputs = work_of()
                    worst = max(check(a, results[i]) for a, i in zip(outputs, which))
                    left = len(calls) - len(which)
                    print(f"{label}   ok, {len(which)} calls, error {worst:.1e}"
                          + (f"; the wheel refuses {left} with its own file" if left else ""))
                    passed += 1
                except Exception as error:
                    print(f"{label}   FAILED: {str(error)[:300]}")
                    failed += 1
    return passed, failed


if __name__ == "__main__":
    sys.exit(main())
