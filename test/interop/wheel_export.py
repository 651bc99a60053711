#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a .pt2 with the ExecuTorch wheel, the other side of every comparison.

  wheel_export.py MODEL.pt2 --backend none|xnnpack [--external N] -o OUT.pte
  wheel_export.py --method NAME=FILE.pt2 ... --backend none|xnnpack -o OUT.pte

Several methods share their mutable buffers, by name.

With --external 1 the weights go to OUT.ptd, with 2 in turn to OUT.0.ptd and
OUT.1.ptd: kernel weights by the emitter's external_constants, delegate weights
by tagging them before lowering. (Convolutions that a batch norm is folded into
lose their tag there, and stay in the program.) Prints one JSON object: seconds
of each phase, peak memory, delegate and kernel calls.
"""

import argparse
import json
import pathlib
import resource
import shutil
import tempfile
import time

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.utils.configs import get_transform_passes
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.external_constants_pass import (
    delegate_external_constants_pass_unlifted,
)


def in_turn(files: int):
    """Gives each weight the tag of its file, in the order the weights appear."""
    tags: dict[str, str] = {}
    return lambda node: tags.setdefault(str(node.target), f"weights_{len(tags) % files}")


def tag_delegate_weights(program: torch.export.ExportedProgram, files: int):
    module = program.module()
    delegate_external_constants_pass_unlifted(module=module, gen_tag_fn=in_turn(files))
    args, kwargs = program.example_inputs
    return torch.export.export(module, args, kwargs)


def count_calls(program) -> dict[str, int]:
    calls = {"delegate_calls": 0, "kernel_calls": 0}
    for instruction in program.execution_plan[0].chains[0].instructions:
        kind = type(instruction.instr_args).__name__
        if kind == "DelegateCall":
            calls["delegate_calls"] += 1
        elif kind == "KernelCall":
            calls["kernel_calls"] += 1
    return calls


def data_files(out: pathlib.Path, count: int) -> list[pathlib.Path]:
    if count == 1:
        return [out.with_suffix(".ptd")]
    return [out.with_suffix(f".{i}.ptd") for i in range(count)]


def export(model: pathlib.Path, backend: str, external: int, out: pathlib.Path) -> dict:
    start = time.perf_counter()
    program = torch.export.load(model)
    if backend == "xnnpack" and external:
        program = tag_delegate_weights(program, external)
    loaded = time.perf_counter()

    if backend == "xnnpack":
        edge = to_edge_transform_and_lower(
            program,
            partitioner=[XnnpackPartitioner()],
            transform_passes=get_transform_passes(),
        )
    else:
        edge = to_edge_transform_and_lower(program)
    # With XNNPACK the tags do it; the switch would also write out constants
    # that no instruction uses any more, as a second file.
    tagged = in_turn(external) if external and backend == "none" else False
    config = ExecutorchBackendConfig(external_constants=tagged)
    manager = edge.to_executorch(config)
    lowered = time.perf_counter()

    out.parent.mkdir(parents=True, exist_ok=True)
    manager.save(str(out))
    if external:
        with tempfile.TemporaryDirectory() as folder:
            manager.write_tensor_data_to_file(folder)
            files = sorted(pathlib.Path(folder).iterdir())
            if len(files) != external:
                raise RuntimeError(f"expected {external} .ptd, got {[f.name for f in files]}")
            for written, wanted in zip(files, data_files(out, external)):
                shutil.copyfile(written, wanted)
    written = time.perf_counter()

    return {
        "load_s": loaded - start,
        "lower_s": lowered - loaded,
        "write_s": written - lowered,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        **count_calls(manager.executorch_program),
    }


def export_methods(methods: dict[str, pathlib.Path], backend: str, out: pathlib.Path) -> dict:
    start = time.perf_counter()
    programs = {name: torch.export.load(path) for name, path in methods.items()}
    loaded = time.perf_counter()
    if backend == "xnnpack":
        edge = to_edge_transform_and_lower(
            programs,
            partitioner={name: [XnnpackPartitioner()] for name in programs},
            transform_passes=get_transform_passes(),
        )
    else:
        edge = to_edge_transform_and_lower(programs)
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    with torch.no_grad():
        manager = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))
    lowered = time.perf_counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    manager.save(str(out))
    return {"load_s": loaded - start, "lower_s": lowered - loaded}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, nargs="?")
    parser.add_argument("--method", action="append", default=[], metavar="NAME=FILE.pt2")
    parser.add_argument("--backend", choices=["none", "xnnpack"], required=True)
    parser.add_argument("--external", type=int, default=0, metavar="N")
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if args.method:
        methods = {n: pathlib.Path(f) for n, f in (m.split("=", 1) for m in args.method)}
        print(json.dumps(export_methods(methods, args.backend, args.out)))
    else:
        print(json.dumps(export(args.model, args.backend, args.external, args.out)))


if __name__ == "__main__":
    main()
