#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges decoders with the ExecuTorch wheel that call operators of its LLM library.

  test/interop/decoders [--petrel BINARY] [--work DIR] [NAME ...]

Each decoder of decoder_models.py is exported by the wheel and by us, with kernels alone and with
XNNPACK, and run step by step: a prompt, then more tokens, with caches as state. A row tells how
far the logits are from eager torch's, of the largest: of the wheel's file in both runtimes and of
ours in both. Ours must not have more calls of delegates or kernels. What the wheel refuses to
lower is named. The last line is "N passed, N failed"; the
exit status is 1 when anything failed.
"""

import pathlib
import sys
import tempfile

import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass

import decoder_models
import quantised_programs
import wheel
from command import Failed, command
from decoder_models import Decoder
from tool_parser import ToolParser

# A number that is quantised on the way may get the next level.
MOST_APART = {"float_cache": 1e-5, "rotated": 1e-5, "one_operator": 1e-5, "ring_cache": 1e-5}
MOST_APART_QUANTISED = 3e-2


class Refused(Exception):
    """The wheel cannot lower the decoder; the text is its last line."""


def export_wheel(decoder: Decoder, backend: str, pte: pathlib.Path) -> None:
    try:
        _export_wheel(decoder, backend, pte)
    except Exception as why:
        lines = [line for line in str(why).splitlines() if line.strip()]
        raise Refused(lines[-1].strip() if lines else type(why).__name__) from None


def _export_wheel(decoder: Decoder, backend: str, pte: pathlib.Path) -> None:
    partitioner = [XnnpackPartitioner()] if backend == "xnnpack" else []
    with torch.no_grad():
        edge = to_edge_transform_and_lower(decoder.export(), partitioner=partitioner)
        edge.to_executorch(ExecutorchBackendConfig(
            do_quant_fusion_and_const_prop=True, memory_planning_pass=MemoryPlanningPass(),
            sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass())).save(str(pte))


def distance(actual: list[np.ndarray], decoder: Decoder) -> float:
    """Of the worst element of all calls."""
    worst = 0.0
    for y, call in zip(actual, decoder.calls, strict=True):
        expected = call.expected.numpy()
        if y.shape != expected.shape:
            raise Failed(f"has shape {y.shape}, expected {expected.shape}")
        worst = max(worst, float(np.abs(y - expected).max() / np.abs(expected).max()))
    return worst


class Exchange:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path, worker: wheel.Worker) -> None:
        self.petrel, self.work, self.worker = petrel, work, worker

    def here(self, pte: pathlib.Path, decoder: Decoder) -> list[np.ndarray]:
        words = []
        for c, call in enumerate(decoder.calls):
            files = [self.work / f"input_{c}_{i}.npy" for i in range(len(call.inputs))]
            for file, x in zip(files, call.inputs):
                np.save(file, x.numpy())
            words += ["--call", "forward:" + ",".join(map(str, files))]
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            command(self.petrel, "run", pte, *words, "--output-dir", folder)
            return [np.load(f"{folder}/call_{c}_output_0.npy") for c in range(len(decoder.calls))]

    def there(self, pte: pathlib.Path, decoder: Decoder) -> list[np.ndarray]:
        calls = [[x.numpy() for x in call.inputs] for call in decoder.calls]
        return [outputs[0] for outputs in self.worker.run(pte, None, calls)]

    def check(self, name: str) -> tuple[bool, str]:
        decoder = decoder_models.make(name)
        archive = self.work / f"{name}.pt2"
        quantised_programs.save(decoder.export(), archive)
        told, ok = [], True
        for backend in ("none", "xnnpack"):
            counted = {}
            files = {side: self.work / f"{name}.{side}.{backend}.pte" for side in ("wheel", "petrel")}
            for side, pte in files.items():
                try:
                    if side == "wheel":
                        export_wheel(decoder, backend, pte)
                    else:
                        command(self.petrel, "export", archive, "--backend", backend, "-o", pte)
                    apart = [distance(run(pte, decoder), decoder) for run in (self.there, self.here)]
                except Refused as why:
                    told.append(f"the wheel refuses with {backend}: {why}")
                    continue
                except (Failed, wheel.WheelError) as why:
                    ok = False
                    told.append(f"{side}'s {backend}: {why}")
                    continue
                most = MOST_APART.get(name, MOST_APART_QUANTISED)
                ok &= max(apart) <= most
                counts = counted[side] = self.worker.describe(pte)["forward"]
                told.append(f"{side}'s {backend}: wheel {apart[0]:.0e}, here {apart[1]:.0e}, calls "
                            f"{counts['delegate_calls']}, kernels {counts['kernel_calls']}")
            for calls in ("delegate_calls", "kernel_calls"):
                if len(counted) == 2 and counted["petrel"][calls] > counted["wheel"][calls]:
                    ok = False
                    told.append(f"more {calls.replace('_', ' ')} with {backend} than the wheel's")
        return ok, "; ".join(told)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", names=list(decoder_models.MODELS))
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        work = (args.work or pathlib.Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        exchange = Exchange(args.petrel, work, worker)
        for name in args.names or decoder_models.MODELS:
            ok, told = exchange.check(name)
            passed += ok
            failed += not ok
            print(f"{'ok  ' if ok else 'FAIL'}  {name:20s} {told}", flush=True)
    print(f"\n{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
