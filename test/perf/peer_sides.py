# SPDX-License-Identifier: Apache-2.0
"""The peers that run in Python, as sides of a comparison (test/interop/sides.py has the
others): ONNX Runtime and OpenVINO read an ONNX file, LiteRT a file of its own converter.

  sides = python_sides(work, "resnet18", network.stateless["resnet18"], [1, 2], PEERS)
  sides[0].measure(call, 1, 0.5)    # {"load": us, "first run": us, ...}

A peer that cannot convert or run the archive, or disagrees with eager torch, is named in a
line and left out. None has state: a cache goes in and comes out.
"""

import dataclasses
import json
import pathlib
import sys
import tempfile

import numpy as np

import agreement
import networks
from command import Failed, command
from sides import Side, pinned

HERE = pathlib.Path(__file__).resolve().parent
PYTHON_PEERS = ["onnxruntime", "openvino", "litert"]


def _script(peer: str, script: str) -> list[object]:
    """The words that run a script of this folder with the packages of a peer."""
    if peer == "litert":  # in an environment of its own
        return [HERE / "with_packages", "litert", "requirements_litert.txt", script]
    return [sys.executable, HERE / script]


def _converted(peer: str, archive: pathlib.Path, work: pathlib.Path, table: str) -> pathlib.Path:
    out = work / (f"{table}.tflite" if peer == "litert" else f"{table}.onnx")
    if not out.exists() or out.stat().st_mtime < archive.stat().st_mtime:
        script = "to_tflite.py" if peer == "litert" else "to_onnx.py"
        command(*_script(peer, script), archive, out)
    return out


@dataclasses.dataclass
class PythonSide:
    name: str
    model: pathlib.Path
    calls: list[networks.Call]

    def words(self, call: networks.Call, threads: int) -> list[object]:
        return [*pinned(threads), *_script(self.name, "peer_runner.py"), self.name, self.model,
                "--threads", threads, "--inputs", *call.inputs]

    def measure(self, call: networks.Call, threads: int, seconds: float) -> dict[str, float]:
        del call  # its own, with the state among the inputs
        output = command(*self.words(self.calls[0], threads), "--seconds", seconds)
        return Side.theirs(json.loads(output.splitlines()[-1]))

    def check(self, threads: int) -> None:
        for call in self.calls:
            with tempfile.TemporaryDirectory() as out:
                command(*self.words(call, threads), "--output-dir", out)
                count = len(list(pathlib.Path(out).glob("output_*.npy")))
                made = [np.load(f"{out}/output_{i}.npy") for i in range(count)]
                if self.name == "litert":  # has 32-bit integers where the archive has 64
                    made = [y.astype(np.int64) if y.dtype == np.int32 else y for y in made]
                agreement.compare(made, call.expected, call.min_db)


def python_sides(work: pathlib.Path, table: str, part: networks.Stateless, numbers: list[int],
                 peers: list[str]) -> list[PythonSide]:
    work.mkdir(parents=True, exist_ok=True)
    sides = []
    for name in peers:
        try:
            side = PythonSide(name, _converted(name, part.archive, work, table), part.calls)
            for threads in numbers:
                side.check(threads)
            sides.append(side)
        except (Failed, agreement.Disagreement) as why:
            print(f"{table}: {name} is not timed: {why}", flush=True)
    return sides
