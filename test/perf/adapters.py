#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many adapters over one base: what memory they take, and how long a swap.

  ./bazelw build //extension/cli:petrel //test/perf:adapter_memory //test/perf:swap_time
  test/perf/adapters [--petrel BINARY] [--adapter-memory BINARY] [--swap-time BINARY]
                     [--rank 64] [--adapters 16] [--wheel 4]

Exports four layers of 2560 x 2560 with adapters of rank 64 beside them, 105 MB and 5.2 MB, and
the same layers alone, in floats for kernels and for XNNPACK, and quantised to int8 (PT2E) for
XNNPACK. Torch writes the adapters as safetensors; the archives are gone when `petrel data build`
makes data files of them. Then prints, with files mapped and read,

  the resident and private memory of a process that has the base model loaded and run, and 1, 4
  and all adapters over it, each in a module that is ready to run;
  the time of a swap in one loaded module, and its memory before and after all swaps;
  the same of the ExecuTorch wheel, with as many adapters as --wheel says (0 for none), and
  ratios ours / wheel of mapped files. Its modules map the base each for itself, so what is
  compared has pages that are mapped several times once ("own"). It swaps by loading another
  module.

Fails where an output is not that of the merged model in eager torch or is the base's, where
memory is more than that of the base and 1.05 times that of the adapters, with files that are
mapped, and where one swap takes 10 ms; on a machine that is busy with other work it may.
"""

import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "interop"), str(HERE.parent / "models")]

from adapted import Size, adapted, adapter, merged, network, quantised  # noqa: E402
from run import command  # noqa: E402
from tool_parser import ToolParser  # noqa: E402

SIZE = Size(layers=4, width=2560)
PREFIX = "base_model.model."  # of names in files of adapters
MEMORY_ALLOWANCE, SWAP_ALLOWANCE_MS = 1.05, 10
MODES = {"mapped": [], "read": ["--file"]}
BACKENDS = {"float": ["none", "xnnpack"], "int8": ["xnnpack"]}


def relative_error(output: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(output - expected).max() / np.abs(expected).max())


class Study:
    """One base, of floats or int8, and its adapters as torch wrote them."""

    def __init__(self, petrel: pathlib.Path, work: pathlib.Path, rank: int, count: int,
                 precision: str) -> None:
        self.petrel, self.work, self.count = petrel, work, count
        self.failures = 0
        ones = (torch.ones(1, SIZE.width),)
        base, lora = network(SIZE, 0), network(SIZE, rank)
        self.tolerance = 1e-5
        if precision == "int8":
            base, lora = quantised(base, ones), quantised(lora, ones)
            # A sum between two levels goes to one or the other.
            self.tolerance = 0.02
        torch.export.save(torch.export.export(base, ones), work / "base.pt2")
        torch.export.save(torch.export.export(lora, ones), work / "lora.pt2")
        self.expected = []
        with torch.no_grad():
            self.base_output = base(*ones).numpy().ravel()
            for number in range(1, count + 1):
                weights = adapter(SIZE, rank, number)
                save_file({PREFIX + name: value for name, value in weights.items()},
                          work / f"{number}.safetensors")
                model = (adapted(lora, weights) if precision == "int8" else
                         merged(base, weights))
                self.expected.append(model(*ones).numpy().ravel())
        self.adapter_bytes = sum(value.nbytes for value in weights.values())
        self.base, self.lora, self.rank, self.ones = base, lora, rank, ones
        self.found = {}  # what mapped files gave, by what it is

    def export(self, backend: str) -> list[pathlib.Path]:
        """BASE_MODEL.pte, MODEL.pte and BASE.ptd; archives are away afterwards."""
        work = self.work
        base, model, data = work / "base.pte", work / "lora.pte", work / "base.ptd"
        options = ["--backend", backend, "--weight-keys", "name"]
        command(self.petrel, "export", work / "base.pt2", "-o", base, *options, "--external",
                f"*={data}")
        command(self.petrel, "export", work / "lora.pt2", "-o", model, *options, "--external",
                f"*lora*={work / 'first.ptd'}", "--external", f"*={data}")
        return [base, model, data]

    def build(self, model: pathlib.Path) -> list[pathlib.Path]:
        """A data file of each adapter."""
        files = [self.work / f"{number}.ptd" for number in range(1, self.count + 1)]
        for file in files:
            command(self.petrel, "data", "build", "--from", file.with_suffix(".safetensors"),
                    "--for", model, "-o", file, "--keys", "*lora*", "--rename", f"{PREFIX}=")
        return files

    def check(self, folder: pathlib.Path, first: int) -> None:
        for number in range(self.count):
            output = np.fromfile(folder / f"{number + first}.f32", np.float32)
            error = relative_error(output, self.expected[number])
            self.demand(error <= self.tolerance,
                        f"adapter {number + 1} is {error:.2g} from the merged model")
            others = [self.base_output, *self.expected[:number], *self.expected[number + 1:]]
            self.demand(min(relative_error(output, other) for other in others) > 4 * error,
                        f"adapter {number + 1} is not told from the base or another")

    def demand(self, holds: bool, what: str) -> None:
        if not holds:
            self.failures += 1
            print(f"FAIL  {what}", flush=True)

    def memory(self, binary: pathlib.Path, mode: str, files: list, data: list) -> None:
        folder = self.work / "outputs"
        folder.mkdir(exist_ok=True)
        rows = [json.loads(line) for line in
                command(binary, *MODES[mode], folder, *files, *data).splitlines()]
        self.check(folder, 1)
        base = np.fromfile(folder / "0.f32", np.float32)
        self.demand(relative_error(base, self.base_output) <= self.tolerance,
                    "the base is not torch's")
        for count in sorted({0, 1, 4, self.count} & set(range(self.count + 1))):
            row = rows[count]
            more = row["resident_bytes"] - rows[0]["resident_bytes"]
            ratio = more / (count * self.adapter_bytes) if count else 0
            if mode == "mapped":
                self.found[count] = row["own_bytes"]
            if mode == "mapped" and count == self.count:
                self.demand(ratio <= MEMORY_ALLOWANCE, f"adapters take {ratio:.3f} of their bytes")
            told = f"per adapter {ratio:.3f} of its bytes" if count else "base alone"
            print(f"  {mode:7s}+{count:<3d}resident {row['resident_bytes'] / 1e6:6.1f} MB  private "
                  f"{row['private_bytes'] / 1e6:6.1f} MB  load {row['load_ms']:6.1f} ms  {told}",
                  flush=True)

    def swaps(self, binary: pathlib.Path, mode: str, files: list, data: list) -> None:
        folder = self.work / "swapped"
        folder.mkdir(exist_ok=True)
        found = json.loads(command(binary, *MODES[mode], folder, "*lora*", *files, *data))
        self.check(folder, 0)
        median = statistics.median(found["swap_ms"])
        if mode == "mapped":
            self.found["swap"] = median
        self.demand(max(found["swap_ms"]) < SWAP_ALLOWANCE_MS,
                    f"one swap takes {max(found['swap_ms'])} ms, {max(found['cpu_ms'])} of the "
                    "processor: is the machine busy?")
        print(f"  {mode:7s}swap {median:.2f} ms, at most {max(found['swap_ms']):.2f} of "
              f"{len(found['swap_ms'])}, {max(found['cpu_ms']):.2f} of the processor; loading "
              f"{found['load_ms']:.1f} ms; private "
              f"{found['private_bytes'] / 1e6:.1f} MB before, "
              f"{found['private_bytes_after'] / 1e6:.1f} MB after", flush=True)


    def beside_wheel(self, backend: str, count: int) -> None:
        """The wheel's own programs of the same models, in its runtime."""
        import wheel_adapters

        work = self.work / f"wheel_{backend}"
        work.mkdir()
        side = wheel_adapters.Wheel(work, backend)
        side.add("base", torch.export.export(self.base, self.ones))
        for number in range(1, count + 1):
            model = adapted(self.lora, adapter(SIZE, self.rank, number))
            side.add(str(number), torch.export.export(model, self.ones))
        rows, swaps = side.measure(work / "outputs")
        for number in range(count):
            output = np.fromfile(work / "outputs" / f"{number + 1}.f32", np.float32)
            error = relative_error(output, self.expected[number])
            self.demand(error <= self.tolerance, f"the wheel's adapter {number + 1} is {error:.2g} "
                        "from the merged model")
        for row in rows:
            count = row["adapters"]
            if count not in self.found:
                continue
            told = f"ours / wheel {self.found[count] / row['own_bytes']:.2f}"
            if count:
                more = row["own_bytes"] - rows[0]["own_bytes"]
                ours = self.found[count] - self.found[0]
                told += (f", per adapter {more / (count * self.adapter_bytes):.3f} of its bytes, "
                         f"ours / wheel {ours / more:.3f}")
            print(f"  wheel  +{count:<3d}own {row['own_bytes'] / 1e6:6.1f} MB, ours "
                  f"{self.found[count] / 1e6:6.1f} MB  {told}", flush=True)
        median = statistics.median(swaps["swap_ms"])
        print(f"  wheel  swap {median:.2f} ms by another module, ours / wheel "
              f"{self.found['swap'] / median:.4f}", flush=True)


def main() -> int:
    parser = ToolParser(__doc__, "petrel", "adapter-memory", "swap-time")
    parser.add_argument("--rank", type=int, default=64)
    parser.add_argument("--adapters", type=int, default=16)
    parser.add_argument("--wheel", type=int, default=4)
    args = parser.parse_args()
    failures = 0
    for precision, backends in BACKENDS.items():
        with tempfile.TemporaryDirectory() as scratch:
            work = pathlib.Path(scratch)
            study = Study(args.petrel, work, args.rank, args.adapters, precision)
            exported = {}
            for backend in backends:
                (work / backend).mkdir()
                exported[backend] = [file.rename(work / backend / file.name)
                                     for file in study.export(backend)]
            for archive in work.glob("*.pt2"):
                archive.unlink()
            for backend, files in exported.items():
                data = study.build(files[1])
                # Weights are known by their place in files that were not changed just now.
                time.sleep(2.1)
                print(f"{precision} base of {files[2].stat().st_size / 1e6:.1f} MB, adapters of "
                      f"{study.adapter_bytes / 1e6:.2f} MB, backend {backend}", flush=True)
                for mode in MODES:
                    study.memory(args.adapter_memory, mode, files, data)
                    study.swaps(args.swap_time, mode, files[1:], data)
                if args.wheel:
                    study.beside_wheel(backend, args.wheel)
            failures += study.failures
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
