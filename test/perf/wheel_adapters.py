# SPDX-License-Identifier: Apache-2.0
"""Adapters over one base in the ExecuTorch wheel, to be measured beside ours.

  side = wheel_adapters.Wheel(work, "xnnpack")
  side.add("base", exported_base)            # the base alone
  side.add("1", exported_with_adapter_1)     # PROGRAM and the data of base and adapter
  rows, swaps = side.measure(outputs)

Weights of the base go to one file and those of an adapter to another, by tags. With
XNNPACK the program says which bytes it wants, so each adapter has a program of its own;
the file of the base is the same for all, where the wheel writes it so. Kernels find weights by name:
there is one program.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.utils.configs import get_transform_passes
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.external_constants_pass import (
    delegate_external_constants_pass_unlifted,
)

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "interop"))

from command import command  # noqa: E402


def file_of(node: torch.fx.Node) -> str:
    return "adapter" if "lora" in str(node.target) else "base"


def lower(program: torch.export.ExportedProgram, backend: str):
    if backend == "none":
        return to_edge_transform_and_lower(program).to_executorch(
            ExecutorchBackendConfig(external_constants=file_of))
    module = program.module()
    delegate_external_constants_pass_unlifted(module=module, gen_tag_fn=file_of)
    args, kwargs = program.example_inputs
    program = torch.export.export(module, args, kwargs)
    return to_edge_transform_and_lower(
        program, partitioner=[XnnpackPartitioner()],
        transform_passes=get_transform_passes()).to_executorch()


class Wheel:

    def __init__(self, work: pathlib.Path, backend: str) -> None:
        self.work, self.backend = work, backend
        self.words: list[str] = []
        self.base: pathlib.Path | None = None

    def add(self, name: str, program: torch.export.ExportedProgram) -> None:
        manager = lower(program, self.backend)
        pte = self.work / f"{name}.pte"
        manager.save(str(pte))
        data = []
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            manager.write_tensor_data_to_file(folder)
            for made in sorted(pathlib.Path(folder).iterdir(), reverse=True):
                kept = self.work / f"{name}.{made.name}"
                if made.stem == "base" and self.is_base(made):
                    kept = self.base
                else:
                    shutil.move(made, kept)
                if made.stem == "base":
                    self.base = kept
                data.append(kept)
        self.words.append(",".join(map(str, [pte, *data])))

    def is_base(self, made: pathlib.Path) -> bool:
        return self.base is not None and made.read_bytes() == self.base.read_bytes()

    def measure(self, outputs: pathlib.Path) -> tuple[list[dict], dict]:
        outputs.mkdir(exist_ok=True)
        binary = pathlib.Path(sys.prefix) / "bin" / "wheel_adapters"
        lines = [json.loads(line) for line in command(binary, outputs, *self.words).splitlines()]
        return lines[:-1], lines[-1]
