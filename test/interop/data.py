#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moves and exchanges the weights of programs, and reads the results with the wheel.

  test/interop/data [--petrel BINARY] [--work DIR] [NAME ...]

For each model, {none, xnnpack}:

  inline           as exported
  split            `petrel data split` of that: program and data file
  merged           `petrel data merge` of an export with external weights
  two files        --external '*bias=...' --external '*=...'
  shards           --shard-size
  by name          --weight-keys name with external weights

each run by us, bit for bit equal to the first, and by the C++ runtime of the
wheel's SDK, compared with eager torch. Then the weights are exchanged: a program
exported with random weights gets those of the model by `petrel data build`, and
must give what a direct export gives, bit for bit; a data file with a wrong layout
is refused. The last line is "N passed, N failed".
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile

import numpy as np
import torch

import agreement
from command import Failed, command
from run import BACKENDS, ROOT, Table, read_examples

sys.path.append(str(ROOT / "test" / "models"))

from models import MODELS  # noqa: E402

DEFAULT = ["digits", "mlp", "minilm"]


def randomise(model: torch.nn.Module) -> None:
    torch.manual_seed(99)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.05)
        for name, buffer in model.named_buffers():
            if buffer.is_floating_point():
                buffer.copy_(torch.rand_like(buffer) + 0.5)


class Data:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path) -> None:
        self.petrel, self.work, self.table = petrel, work, Table()
        self.runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"

    def path(self, name: str) -> pathlib.Path:
        return self.work / name

    def export(self, model: str, out: str, backend: str, *more: object) -> None:
        command(self.petrel, "export", self.path(f"{model}.pt2"), "-o", self.path(out),
                "--backend", backend, *more)

    def run(self, program: object, pte: str, ptds: list[str], inputs: list[pathlib.Path],
            *more: object) -> list[np.ndarray]:
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        command(program, self.path(pte),
                *(w for p in ptds for w in ("--data", self.path(p))),
                *(w for f in inputs for w in ("--input", f)), "--output-dir", out, *more)
        count = len(list(out.glob("output_*.npy")))
        return [np.load(out / f"output_{i}.npy") for i in range(count)]

    def arrangements(self, model: str, backend: str):
        """Name -> (program, data files)."""
        # Only named weights of kernels can leave a program.
        self.export(model, "in.pte", backend,
                    *(("--weight-keys", "name") if backend == "none" else ()))
        yield "inline", "in.pte", []
        command(self.petrel, "data", "split", self.path("in.pte"), "-o", self.path("split.pte"),
                "--to", self.path("split.ptd"))
        yield "split", "split.pte", ["split.ptd"]
        self.export(model, "ext.pte", backend, "--external-weights", self.path("ext.ptd"))
        command(self.petrel, "data", "merge", self.path("ext.pte"), self.path("ext.ptd"), "-o",
                self.path("merged.pte"))
        yield "merged", "merged.pte", []
        self.export(model, "two.pte", backend, "--external", f"*bias={self.path('bias.ptd')}",
                    "--external", f"*={self.path('rest.ptd')}")
        yield "two files", "two.pte", ["bias.ptd", "rest.ptd"]
        listing = json.loads(command(self.petrel, "data", "list", self.path("ext.ptd"), "--json"))
        limit = max(e["bytes"] for e in listing["entries"]) + 4096
        for old in self.work.glob("shard*.ptd"):
            old.unlink()
        self.export(model, "shard.pte", backend, "--external-weights", self.path("shard.ptd"),
                    "--shard-size", limit)
        yield "shards", "shard.pte", sorted(p.name for p in self.work.glob("shard*.ptd"))
        self.export(model, "name.pte", backend, "--external-weights", self.path("name.ptd"),
                    "--weight-keys", "name")
        yield "by name", "name.pte", ["name.ptd"]

    def check_arrangements(self, model: str, backend: str, examples) -> None:
        wanted = None
        for label, pte, ptds in self.arrangements(model, backend):
            def here() -> str:
                nonlocal wanted
                digest = self.ours_digest(pte, ptds, examples)
                if wanted is None:
                    wanted = digest
                if digest != wanted:
                    raise Failed("other bits than inline")
                return f"{len(ptds)} data files"

            def there() -> str:
                worst = agreement.Worst()
                for example in examples:
                    outputs = self.run(self.runner, pte, ptds, example.inputs, "--threads", 2)
                    worst.include(agreement.compare(outputs, example.expected))
                return f"error {worst.error:.1e}"

            self.table.row(f"{model} {backend} {label}: petrel", here)
            self.table.row(f"{model} {backend} {label}: wheel c++", there)

    def ours_digest(self, pte: str, ptds: list[str], examples, *more: object) -> str:
        digest = hashlib.sha256()
        for example in examples:
            out = self.path("out")
            shutil.rmtree(out, ignore_errors=True)
            command(self.petrel, "run", self.path(pte),
                    *(w for p in ptds for w in ("--data", self.path(p))),
                    *(w for f in example.inputs for w in ("--input", f)), "--output-dir", out,
                    *more)
            for i in range(len(list(out.glob("output_*.npy")))):
                digest.update((out / f"output_{i}.npy").read_bytes())
        return digest.hexdigest()

    def check_exchange(self, model: str, backend: str, examples) -> None:
        """Random weights first, then those of the model."""
        def swapped() -> str:
            self.export(f"{model}_random", "old.pte", backend, "--weight-keys", "name",
                        "--external-weights", self.path("old.ptd"))
            command(self.petrel, "data", "build", "--from", self.path(f"{model}.pt2"), "--for",
                    self.path("old.pte"), "-o", self.path("new.ptd"))
            self.export(model, "direct.pte", backend)
            random = self.ours_digest("old.pte", ["old.ptd"], examples)
            built = self.ours_digest("old.pte", ["new.ptd"], examples)
            direct = self.ours_digest("direct.pte", [], examples)
            if built == random:
                raise Failed("the new weights changed nothing")
            if built != direct:
                raise Failed("other bits than a direct export")
            worst = agreement.Worst()
            for example in examples:
                outputs = self.run(self.runner, "old.pte", ["new.ptd"], example.inputs,
                                   "--threads", 2)
                worst.include(agreement.compare(outputs, example.expected))
            size = self.path("new.ptd").stat().st_size
            return f"new weights of {size / 1e6:.1f} MB, equal bits; wheel error {worst.error:.1e}"

        def refused() -> str:
            listing = json.loads(command(self.petrel, "data", "list", self.path("new.ptd"),
                                         "--json"))
            weight = max(listing["entries"], key=lambda e: e["bytes"])
            index = {weight["key"]: {"dtype": "F32", "shape": [weight["bytes"] // 4],
                                     "data_offsets": [0, weight["bytes"]]}}
            text = json.dumps(index).encode()
            wrong = self.path("wrong.safetensors")
            wrong.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * weight["bytes"])
            try:
                command(self.petrel, "run", self.path("old.pte"), "--data", wrong)
            except Failed as why:
                if weight["key"] not in str(why):
                    raise
                return str(why)[:120]
            raise Failed("a wrong layout was taken")

        self.table.row(f"{model} {backend} exchanged", swapped)
        self.table.row(f"{model} {backend} wrong layout refused", refused)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--petrel", type=pathlib.Path,
                        default=ROOT / "bazel-bin" / "extension" / "cli" / "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    args = parser.parse_args()
    for name in args.names:
        if name not in MODELS:
            parser.error(f"unknown model '{name}'")
    if not os.access(args.petrel, os.X_OK):
        print(f"{args.petrel} is not there; build //extension/cli:petrel first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        data = Data(args.petrel.resolve(), (args.work or pathlib.Path(scratch)).resolve())
        data.work.mkdir(parents=True, exist_ok=True)
        for name in args.names or DEFAULT:
            command(sys.executable, ROOT / "test" / "models" / "export_models.py", "--out",
                    data.work, name)
            model = MODELS[name]()
            randomise(model.module)
            torch.export.save(model.program(), data.path(f"{name}_random.pt2"))
            examples = read_examples(data.work, name)
            for backend in BACKENDS:
                data.check_arrangements(name, backend, examples)
                data.check_exchange(name, backend, examples)
    print(f"\n{data.table.passed} passed, {data.table.failed} failed")
    return 0 if data.table.passed and not data.table.failed else 1


if __name__ == "__main__":
    sys.exit(main())
