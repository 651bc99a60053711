#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges kinds of weights with the wheel, both ways; data.py exchanges arrangements.

  test/interop/exchange [--petrel BINARY] [--work DIR]

equal bytes     of two layers, which different files want under a key of their content: they lie
                in the first; run by us and by the wheel. The other way round our runtime takes
                data files of the wheel that have a key twice, which the wheel itself refuses
state           mutable and external, with a first value in a data file: run by us and the wheel,
                and with another first value
names           our delegates' data under names, in a program of the wheel's kernels; and data of
                the wheel's kernels in a program of ours for delegates
made of several scales and biases of int8 that XNNPACK's backend computes from weights: read and
                run by the wheel, with the first weights and with others that were built later

The wheel's own reader of data files lists the same keys and bytes as `petrel data list`. The last
line is "N passed, N failed".
"""

import json
import pathlib
import sys
import tempfile

import numpy as np
import torch

import agreement
import networks
import wheel_exports
from command import Failed, command
from data import Data, random_archives
from run import ROOT
from tool_parser import ToolParser

MODELS = ROOT / "test" / "models"
QUICKSTART = ROOT / "examples" / "quickstart"
# A program of int8 may round to the level beside the other's.
LEVELS = 0.05


def wheel_keys(file: pathlib.Path) -> dict[str, int]:
    """Bytes by key, as the wheel's Python reads a data file."""
    from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

    payload = FlatTensorSerializer().deserialize(file.read_bytes())
    return {key: len(payload.buffers[entry.buffer_index])
            for key, entry in payload.named_data.items()}


class Exchange(Data):

    def check_keys(self, label: str, name: str) -> None:
        def same() -> str:
            listing = json.loads(command(self.petrel, "data", "list", self.path(name), "--json"))
            ours = {entry["key"]: entry["bytes"] for entry in listing["entries"]}
            if ours != wheel_keys(self.path(name)):
                raise Failed(f"the wheel reads {wheel_keys(self.path(name))}, we {ours}")
            return f"{len(ours)} keys"

        self.table.row(f"{label}: the wheel's reader", same)

    def check_both(self, label: str, pte: str, ptds: list[str], network, wanted: str) -> None:
        def here() -> str:
            if self.digest(pte, ptds, network) != wanted:
                raise Failed("other bits than with weights inside")
            return f"{len(ptds)} data files"

        self.table.row(f"{label}: petrel", here)
        self.table.row(f"{label}: wheel c++",
                       lambda: self.agree(self.there(pte, ptds, network), network))

    def equal_bytes(self) -> None:
        network = networks.load(self.work, ["decoder"])["decoder"]
        self.export(network.methods, "in.pte", "xnnpack")
        wanted = self.digest("in.pte", [], network)

        def told() -> str:
            words = [w for method, file in network.methods.items()
                     for w in ("--method", f"{method}={file}")]
            out = command(self.petrel, "export", *words, "-o", self.path("two.pte"), "--report",
                          "--external", f"*blocks.0.*={self.path('first.ptd')}",
                          "--external", f"*={self.path('rest.ptd')}")
            lines = [line for line in out.splitlines() if "first.ptd" in line and "rest" in line]
            if not lines:
                raise Failed("the report does not say where equal bytes lie")
            return lines[0].strip()

        self.table.row("equal bytes: report", told)
        self.check_both("equal bytes", "two.pte", ["first.ptd", "rest.ptd"], network, wanted)
        for name in ("first.ptd", "rest.ptd"):
            self.check_keys(f"equal bytes, {name}", name)

        mlp = networks.load(self.work, ["mlp"])["mlp"]

        def twice() -> str:
            wheel_exports.export(mlp.methods, "xnnpack", 1, self.path("t1.pte"))
            wheel_exports.export(mlp.methods, "xnnpack", 2, self.path("t2.pte"))
            files = ["t1.ptd", "t2.0.ptd", "t2.1.ptd"]
            if self.digest("t1.pte", files, mlp) != self.digest("t1.pte", ["t1.ptd"], mlp):
                raise Failed("other bits than with each key once")
            try:
                self.there("t1.pte", files, mlp)
            except Failed:
                return "taken by us, refused by the wheel"
            return "taken by both"

        self.table.row("keys of the wheel in two files: petrel", twice)

    def state(self) -> None:
        words = [w for method in ("add", "read")
                 for w in ("--method", f"{method}={MODELS / 'state' / f'counter.{method}.pt2'}")]
        runs = {"petrel": [self.petrel, "run"], "wheel c++": [self.runner, "--share-arenas"]}

        def outputs(words: list, ptd: str) -> list[np.ndarray]:
            out = self.path("state_out")
            out.mkdir(exist_ok=True)
            np.save(self.path("amount.npy"), np.full(self.shape, 3, np.float32))
            command(*words, self.path("counter.pte"), "--data", self.path(ptd), "--call", "read",
                    "--call", f"add:{self.path('amount.npy')}", "--call", "read", "--output-dir",
                    out)
            return [np.load(file) for file in sorted(out.glob("call_[02]_*.npy"))]

        def made() -> str:
            command(self.petrel, "export", *words, "--backend", "none", "-o",
                    self.path("counter.pte"), "--external", f"*total={self.path('total.ptd')}")
            listing = json.loads(command(self.petrel, "data", "list", self.path("total.ptd"),
                                         "--json"))
            entry, = listing["entries"]
            method = torch.export.load(MODELS / "state" / "counter.add.pt2")
            self.shape = tuple(method.example_inputs[0][0].shape)
            first = next(iter(method.state_dict.values())).numpy()
            data = self.path("total.ptd").read_bytes()
            if data.count(first.tobytes()) != 1:
                raise Failed("its first value is not in the file")
            self.path("other.ptd").write_bytes(
                data.replace(first.tobytes(), (first + 10).astype(first.dtype).tobytes()))
            return f"{entry['key']}, {entry['bytes']} bytes"

        if not self.table.row("state: exported", made):
            return
        first = {}
        for name, runner in runs.items():
            def run() -> str:
                first[name] = outputs(runner, "total.ptd")
                for ours, theirs in zip(first["petrel"], first[name], strict=True):
                    np.testing.assert_array_equal(ours, theirs)
                return f"{len(first[name])} outputs"

            def other() -> str:
                for before, after in zip(first[name], outputs(runner, "other.ptd"), strict=True):
                    if np.array_equal(before, after):
                        raise Failed("another first value changes nothing")
                return "another first value counts"

            self.table.row(f"state: {name}", run)
            self.table.row(f"state, other first value: {name}", other)
        self.check_keys("state", "total.ptd")

    def names(self) -> None:
        network = networks.load(self.work, ["mlp"])["mlp"]
        self.export(network.methods, "in.pte", "xnnpack")
        wanted = self.digest("in.pte", [], network)
        self.export(network.methods, "name.pte", "xnnpack", "--weight-keys", "name",
                    "--external-weights", self.path("name.ptd"))
        self.check_both("names", "name.pte", ["name.ptd"], network, wanted)
        self.check_keys("names", "name.ptd")

        def ours() -> str:
            wheel_exports.export(network.methods, "none", 1, self.path("kernels.pte"))
            return self.agree(self.there("kernels.pte", ["name.ptd"], network), network)

        def theirs() -> str:
            if self.digest("name.pte", ["kernels.ptd"], network) != wanted:
                raise Failed("other bits than with our data")
            return "data of the wheel's kernels in our delegates"

        if self.table.row("names: the wheel's kernels with our data", ours):
            self.table.row("names: our delegates with the wheel's data", theirs)

    def made_of_several(self) -> None:
        network = networks.load(self.work, ["digits"])["digits"]
        archive = network.methods["forward"]
        options = ["--weight-keys", "name", "--backend", "xnnpack"]
        digit = QUICKSTART / "digit.npy"

        def made() -> str:
            command(self.petrel, "quantize", archive, "--calibrate", digit, "-o",
                    self.path("int8.pte"), "--record", self.path("q.json"), *options,
                    "--external-weights", self.path("int8.ptd"))
            listing = json.loads(command(self.petrel, "data", "list", self.path("int8.ptd"),
                                         "--json"))
            several = [e["key"] for e in listing["entries"] if "@made_" in e["key"]]
            if not several:
                raise Failed("no key is made of several weights")
            random = random_archives(network, self.work)["forward"]
            command(self.petrel, "data", "build", "--from", random, "--for", self.path("int8.pte"),
                    "-o", self.path("int8.other.ptd"))
            return f"{len(several)} keys such as {several[0]}"

        def run(ptd: str) -> tuple[np.ndarray, np.ndarray]:
            call, = network.calls[:1]
            outputs = []
            for words in ([self.petrel, "run"], [self.runner]):
                out = self.path("int8_out")
                out.mkdir(exist_ok=True)
                command(*words, self.path("int8.pte"), "--data", self.path(ptd), "--input",
                        call.inputs[0], "--output-dir", out)
                outputs.append(np.load(out / "output_0.npy"))
            return outputs[0], outputs[1]

        def agree(ptd: str) -> str:
            ours, theirs = run(ptd)
            error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
            if error > LEVELS:
                raise Failed(f"{error:.3f} apart")
            return f"{error:.1e} apart"

        if not self.table.row("made of several: exported", made):
            return
        self.check_keys("made of several", "int8.ptd")
        self.table.row("made of several: petrel and wheel c++", lambda: agree("int8.ptd"))

        def other() -> str:
            told = agree("int8.other.ptd")
            if np.array_equal(run("int8.ptd")[1], run("int8.other.ptd")[1]):
                raise Failed("other weights change nothing")
            return told

        self.table.row("made of several, other weights: petrel and wheel c++", other)


def main() -> int:
    parser = ToolParser(__doc__, "petrel")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        exchange = Exchange(args.petrel, (args.work or pathlib.Path(scratch)).resolve())
        exchange.work.mkdir(parents=True, exist_ok=True)
        exchange.equal_bytes()
        exchange.state()
        exchange.names()
        exchange.made_of_several()
    print(f"\n{exchange.table.passed} passed, {exchange.table.failed} failed")
    return 0 if exchange.table.passed and not exchange.table.failed else 1


if __name__ == "__main__":
    sys.exit(main())
