# SPDX-License-Identifier: Apache-2.0
"""The runtimes that decoder4.py compares, as sides that are made, checked and measured.

  side = Petrel(binary, work, archive)
  side.logits(tokens, threads)             # after the prompt and after each token behind it
  side.measure(tokens, threads, rounds)    # {"prefill": us, "decode": us, "load": us, "peak MB": MB}

Tokens are a file of [1, PROMPT + n]. Petrel is a program of C++; the others run in Python
(decoder4_run.py), which costs them some microseconds a call, and memory that is not counted.
"""

import json
import pathlib
import sys
import tempfile

import numpy as np
import torch

import decoder4_gguf
from command import command
from decoder4_model import Decoder4, Size
from sides import pinned

HERE = pathlib.Path(__file__).resolve().parent
PROMPT = 128


def made(file: pathlib.Path, *sources: pathlib.Path) -> bool:
    """Whether an earlier run left the file, and nothing that it is made of is newer."""
    return file.exists() and all(source.stat().st_mtime <= file.stat().st_mtime
                                 for source in sources)


class Petrel:
    name = "petrel"

    def __init__(self, binary: pathlib.Path, work: pathlib.Path, archive: pathlib.Path) -> None:
        self.binary, self.work = binary, work
        self.file = work / f"{archive.stem}.petrel.pte"
        if not made(self.file, archive, binary):
            command(binary, "export", archive, "-o", self.file)
        self.packed: float | None = None

    def _inputs(self, tokens: pathlib.Path) -> list[list[pathlib.Path]]:
        """Of each call: the prompt, then one token and its position."""
        every, calls, start = np.load(tokens), [], 0
        for count in [PROMPT] + [1] * (every.shape[1] - PROMPT):
            files = [self.work / f"{word}_{start}.npy" for word in ("tokens", "position")]
            np.save(files[0], every[:, start:start + count])
            np.save(files[1], np.array([start]))
            calls.append(files)
            start += count
        return calls

    def logits(self, tokens: pathlib.Path, threads: int) -> np.ndarray:
        words = [w for files in self._inputs(tokens)
                 for w in ("--call", "forward:" + ",".join(map(str, files)))]
        with tempfile.TemporaryDirectory(dir=self.work) as out:
            command(self.binary, "run", self.file, "--threads", threads, *words, "--output-dir", out)
            count = len(words) // 2
            return np.concatenate([np.load(f"{out}/call_{c}_output_0.npy") for c in range(count)])

    def _bench(self, files: list[pathlib.Path], threads: int, rounds: int) -> dict:
        words = [w for file in files for w in ("--input", file)]
        told = json.loads(command(*pinned(threads), self.binary, "bench", self.file, "--threads",
                                  threads, *words, "--seconds", 0, "--min-runs",
                                  rounds, "--json").splitlines()[-1])
        self.packed = told["packed_bytes"] / 1e6
        return told

    def measure(self, tokens: pathlib.Path, threads: int, rounds: int) -> dict[str, float]:
        prefill, decode = self._inputs(tokens)[:2]
        read = self._bench(prefill, threads, rounds)
        went_on = self._bench(decode, threads, 8 * rounds)
        return {"prefill": read["p50_seconds"] * 1e6, "decode": went_on["p50_seconds"] * 1e6,
                "load": read["load_seconds"] * 1e6, "peak MB": read["peak_memory_bytes"] / 1e6}


class _InPython:
    runner: list[object]

    def __init__(self, size: Size, file: pathlib.Path) -> None:
        self.size, self.file = size, file

    def _run(self, tokens: pathlib.Path, threads: int, *more: object) -> dict:
        words = [*self.runner, HERE / "decoder4_run.py", self.name, self.file, "--tokens", tokens,
                 "--prompt", PROMPT, "--threads", threads, "--context", self.size.context, *more]
        return json.loads(command(*pinned(threads), *words).splitlines()[-1])

    def logits(self, tokens: pathlib.Path, threads: int) -> np.ndarray:
        with tempfile.TemporaryDirectory() as out:
            self._run(tokens, threads, "--logits", f"{out}/logits.npy")
            return np.load(f"{out}/logits.npy")

    def measure(self, tokens: pathlib.Path, threads: int, rounds: int) -> dict[str, float]:
        told = self._run(tokens, threads, "--rounds", rounds)
        return {key: told[key] for key in ("prefill", "decode", "load")} | {
            "peak MB": told["peak_kb"] * 1024 / 1e6}


class Llama(_InPython):
    name = "llama"
    runner = [HERE / "with_llama"]

    def __init__(self, decoder: Decoder4, archive: pathlib.Path, work: pathlib.Path) -> None:
        super().__init__(decoder.size, work / f"{archive.stem}.gguf")
        if not made(self.file, archive, pathlib.Path(decoder4_gguf.__file__)):
            decoder4_gguf.write(decoder, self.file)


class Wheel(_InPython):
    """The wheel's own export, with its partitioner and passes for decoders."""

    name = "wheel"
    runner = [sys.executable]

    def __init__(self, decoder: Decoder4, archive: pathlib.Path, work: pathlib.Path) -> None:
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
        from executorch.exir.passes import MemoryPlanningPass
        from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass

        super().__init__(decoder.size, work / f"{archive.stem}.wheel.pte")
        if made(self.file, archive):
            return
        with torch.no_grad():
            edge = to_edge_transform_and_lower(torch.export.load(archive),
                                               partitioner=[XnnpackPartitioner()])
            edge.to_executorch(ExecutorchBackendConfig(
                do_quant_fusion_and_const_prop=True, memory_planning_pass=MemoryPlanningPass(),
                sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass())).save(str(self.file))
