#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moves and exchanges the weights of programs, and reads the results with the wheel.

  test/interop/data [--petrel BINARY] [--work DIR] [NAME ...]

For each network, {none, xnnpack}:

  inline           as exported
  split            `petrel data split` of that: program and data file
  merged           `petrel data merge` of an export with external weights
  two files        --external '*bias=...' --external-weights
  shards           --shard-size
  by name          --weight-keys name with external weights
  data of another  the program of one export with the data files of the other: keys
                   say what the bytes are, not in which file they lie

each run by us, bit for bit equal to the first, and by the C++ runtime of the
wheel's SDK, compared with eager torch. The other way round programs of the wheel
with one and with two data files are run by us, as they are and merged into one
file, which the wheel must take again. Then the weights are exchanged: a program
exported with random weights gets those of the model by `petrel data build`, and
must give what a direct export gives, bit for bit; a data file with a wrong layout
is refused. The last line is "N passed, N failed".
"""

import hashlib
import json
import pathlib
import shutil
import struct
import sys
import tempfile

import numpy as np
import torch

import agreement
import networks
import wheel_exports
from command import Failed, command
from run import BACKENDS, ROOT, Table
from tool_parser import ToolParser

sys.path.append(str(ROOT / "test" / "models"))

import decoder  # noqa: E402
from models import MODELS  # noqa: E402

DEFAULT = ["digits", "mlp", "minilm", "decoder"]


def randomise(model: torch.nn.Module) -> None:
    torch.manual_seed(99)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.05)
        # Tables and caches that the code computes are not weights.
        kept = model.state_dict().keys()
        for name, buffer in model.named_buffers():
            if buffer.is_floating_point() and name in kept:
                buffer.copy_(torch.rand_like(buffer) + 0.5)


def random_archives(network: networks.Network, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The same network with other weights."""
    if network.name == "decoder":
        prefill, _, _ = decoder.make(decoder.MEDIUM)
        randomise(prefill.decoder)
        made, real = prefill.decoder, decoder.Decoder
        decoder.Decoder = lambda size: made  # the one that make() takes
        try:
            programs = decoder.programs(decoder.MEDIUM)
        finally:
            decoder.Decoder = real
    else:
        model = MODELS[network.name]()
        randomise(model.module)
        programs = {"forward": model.program()}
    archives = {}
    for method, program in programs.items():
        archives[method] = folder / f"{network.name}.{method}.random.pt2"
        torch.export.save(program, archives[method])
    return archives


def model_words(methods: dict[str, pathlib.Path]) -> list[object]:
    if list(methods) == ["forward"]:
        return [methods["forward"]]
    return [w for method, archive in methods.items() for w in ("--method", f"{method}={archive}")]


class Data:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path) -> None:
        self.petrel, self.work, self.table = petrel, work, Table()
        self.runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"

    def path(self, name: str) -> pathlib.Path:
        return self.work / name

    def export(self, methods: dict[str, pathlib.Path], out: str, backend: str,
               *more: object) -> None:
        command(self.petrel, "export", *model_words(methods), "-o", self.path(out),
                "--backend", backend, *more)

    def run(self, words: list[object], pte: str, ptds: list[str],
            network: networks.Network) -> list[list[np.ndarray]]:
        """The outputs of all calls, made one after the other in one process."""
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        command(*words, self.path(pte),
                *(w for p in ptds for w in ("--data", self.path(p))),
                *(w for call in network.calls for w in ("--call", call.word)), "--output-dir", out)
        return [[np.load(out / f"call_{c}_output_{i}.npy")
                 for i in range(len(list(out.glob(f"call_{c}_output_*.npy"))))]
                for c in range(len(network.calls))]

    def here(self, pte: str, ptds: list[str], network: networks.Network):
        return self.run([self.petrel, "run"], pte, ptds, network)

    def there(self, pte: str, ptds: list[str], network: networks.Network):
        share = ["--share-arenas"] if len(network.methods) > 1 else []
        return self.run([self.runner, *share, "--threads", 2], pte, ptds, network)

    def digest(self, pte: str, ptds: list[str], network: networks.Network) -> str:
        digest = hashlib.sha256()
        for outputs in self.here(pte, ptds, network):
            for output in outputs:
                digest.update(output.tobytes())
        return digest.hexdigest()

    @staticmethod
    def agree(results: list[list[np.ndarray]], network: networks.Network) -> str:
        worst = agreement.Worst()
        for outputs, call in zip(results, network.calls, strict=True):
            worst.include(agreement.compare(outputs, call.expected))
        return f"error {worst.error:.1e}"

    def arrangements(self, network: networks.Network, backend: str):
        """Name -> (program, data files)."""
        # Only named weights of kernels can leave a program.
        self.export(network.methods, "in.pte", backend,
                    *(("--weight-keys", "name") if backend == "none" else ()))
        yield "inline", "in.pte", []
        command(self.petrel, "data", "split", self.path("in.pte"), "-o", self.path("split.pte"),
                "--to", self.path("split.ptd"))
        yield "split", "split.pte", ["split.ptd"]
        self.export(network.methods, "ext.pte", backend, "--external-weights",
                    self.path("ext.ptd"))
        command(self.petrel, "data", "merge", self.path("ext.pte"), self.path("ext.ptd"), "-o",
                self.path("merged.pte"))
        yield "merged", "merged.pte", []
        glob = self.second_file(network)
        self.export(network.methods, "two.pte", backend, "--external",
                    f"{glob}={self.path('some.ptd')}", "--external-weights", self.path("rest.ptd"))
        yield f"two files, {glob}", "two.pte", ["some.ptd", "rest.ptd"]
        listing = json.loads(command(self.petrel, "data", "list", self.path("ext.ptd"), "--json"))
        limit = max(e["bytes"] for e in listing["entries"]) + 4096
        for old in self.work.glob("shard*.ptd"):
            old.unlink()
        self.export(network.methods, "shard.pte", backend, "--external-weights",
                    self.path("shard.ptd"), "--shard-size", limit)
        yield "one file, for two", "two.pte", ["ext.ptd"]
        yield "two files, for one", "ext.pte", ["some.ptd", "rest.ptd"]
        yield "shards", "shard.pte", sorted(p.name for p in self.work.glob("shard*.ptd"))
        self.export(network.methods, "name.pte", backend, "--external-weights",
                    self.path("name.ptd"), "--weight-keys", "name")
        yield "by name", "name.pte", ["name.ptd"]

    @staticmethod
    def second_file(network: networks.Network) -> str:
        """Names of weights that have a file of their own."""
        return "*attention*weight*" if network.name == "decoder" else "*bias"

    def check_arrangements(self, network: networks.Network, backend: str) -> None:
        wanted = None
        for label, pte, ptds in self.arrangements(network, backend):
            def here() -> str:
                nonlocal wanted
                digest = self.digest(pte, ptds, network)
                if wanted is None:
                    wanted = digest
                if digest != wanted:
                    raise Failed("other bits than inline")
                return f"{len(ptds)} data files"

            def there() -> str:
                return self.agree(self.there(pte, ptds, network), network)

            self.table.row(f"{network.name} {backend} {label}: petrel", here)
            self.table.row(f"{network.name} {backend} {label}: wheel c++", there)

    def check_theirs(self, network: networks.Network, backend: str) -> None:
        """Programs of the wheel with data files, which it writes for one method."""
        if len(network.methods) > 1:
            return
        for count in (1, 2):
            pte = f"theirs{count}.pte"
            ptds = [f"theirs{count}.ptd"] if count == 1 else [f"theirs{count}.{i}.ptd" for i in (0, 1)]
            label = f"{network.name} {backend} of the wheel, {count} ptd"

            def here() -> str:
                wheel_exports.export(network.methods, backend, count, self.path(pte))
                return self.agree(self.here(pte, ptds, network), network)

            def merged() -> str:
                command(self.petrel, "data", "merge", self.path(pte),
                        *(self.path(p) for p in ptds), "-o", self.path("one.pte"))
                if self.digest("one.pte", [], network) != self.digest(pte, ptds, network):
                    raise Failed("other bits than before")
                return self.agree(self.there("one.pte", [], network), network)

            if self.table.row(f"{label}: petrel", here):
                self.table.row(f"{label}, merged: petrel, wheel c++", merged)

    def check_exchange(self, network: networks.Network, random: dict[str, pathlib.Path],
                       backend: str) -> None:
        """Random weights first, then those of the model."""
        def swapped() -> str:
            self.export(random, "old.pte", backend, "--weight-keys", "name",
                        "--external-weights", self.path("old.ptd"))
            one = list(network.methods) == ["forward"]
            sources = [w for method, archive in network.methods.items()
                       for w in ("--from", archive if one else f"{method}={archive}")]
            command(self.petrel, "data", "build", *sources, "--for", self.path("old.pte"), "-o",
                    self.path("new.ptd"))
            self.export(network.methods, "direct.pte", backend)
            before = self.digest("old.pte", ["old.ptd"], network)
            built = self.digest("old.pte", ["new.ptd"], network)
            direct = self.digest("direct.pte", [], network)
            if built == before:
                raise Failed("the new weights changed nothing")
            if built != direct:
                raise Failed("other bits than a direct export")
            error = self.agree(self.there("old.pte", ["new.ptd"], network), network)
            size = self.path("new.ptd").stat().st_size
            return f"new weights of {size / 1e6:.1f} MB, equal bits; wheel {error}"

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
                self.here("old.pte", ["wrong.safetensors"], network)
            except Failed as why:
                if weight["key"] not in str(why):
                    raise
                return str(why)[:120]
            raise Failed("a wrong layout was taken")

        if self.table.row(f"{network.name} {backend} exchanged", swapped):
            self.table.row(f"{network.name} {backend} wrong layout refused", refused)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", names=networks.NAMES)
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = Data(args.petrel, (args.work or pathlib.Path(scratch)).resolve())
        data.work.mkdir(parents=True, exist_ok=True)
        for name in args.names or DEFAULT:
            network = networks.load(data.work, [name])[name]
            random = random_archives(network, data.work)
            for backend in BACKENDS:
                data.check_arrangements(network, backend)
                data.check_theirs(network, backend)
                data.check_exchange(network, random, backend)
    print(f"\n{data.table.passed} passed, {data.table.failed} failed")
    return 0 if data.table.passed and not data.table.failed else 1


if __name__ == "__main__":
    sys.exit(main())
