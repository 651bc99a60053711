# SPDX-License-Identifier: Apache-2.0
"""Our program in our runtime beside the wheel's in the wheel's, or beside that of another
build of ours, to be timed.

  sides = prepare(petrel, work, network, "xnnpack")   # exported, not yet trusted
  for side in sides: side.check(network, threads)     # raises when eager disagrees
  side.measure(call, threads, seconds)                # {"load": us, ..., "peak MB": MB}
"""

import dataclasses
import json
import pathlib
import sys
import tempfile

import numpy as np

import agreement
import wheel_exports
from command import Failed, command
from networks import Call, Network

METRICS = ["load", "first run", "steady min", "steady p50", "steady p90", "peak MB"]


def pinned(threads: int) -> list[object]:
    # The shell stands between, so that a peak does not include this process:
    # the kernel carries it over on exec.
    return ["sh", "-c", '"$@"; exit $?', "sh", "taskset", "-c", ",".join(map(str, range(threads)))]


def compare_calls(folder: pathlib.Path, calls: list[Call]) -> agreement.Worst:
    """Outputs that a runner wrote as call_C_output_O.npy."""
    worst = agreement.Worst()
    for c, call in enumerate(calls):
        count = len(list(folder.glob(f"call_{c}_output_*.npy")))
        actual = [np.load(folder / f"call_{c}_output_{o}.npy") for o in range(count)]
        try:
            worst.include(agreement.compare(actual, call.expected, call.min_db))
        except agreement.Disagreement as why:
            raise agreement.Disagreement(f"call {c} of {call.method}: {why}") from None
    return worst


@dataclasses.dataclass
class Side:
    name: str
    program: list[object]  # the command up to its options for running
    bench: list[object]  # and for timing
    pte: pathlib.Path

    def check(self, network: Network, threads: int) -> agreement.Worst:
        with tempfile.TemporaryDirectory() as out:
            words = [w for call in network.calls for w in ("--call", call.word)]
            command(*self.program, "--threads", threads, *words, "--output-dir", out)
            return compare_calls(pathlib.Path(out), network.calls)

    @property
    def is_petrel(self) -> bool:
        return self.name != "wheel"

    def measure(self, call: Call, threads: int, seconds: float) -> dict[str, float]:
        inputs = [w for path in call.inputs for w in ("--input", path)]
        words = [*pinned(threads), *self.bench, "--threads", threads, "--method", call.method,
                 *inputs]
        if self.is_petrel:
            return self._ours(command(*words, "--seconds", seconds, "--json"))
        return self.theirs(json.loads(command(*words, "--bench", seconds).splitlines()[-1]))

    @staticmethod
    def _ours(output: str) -> dict[str, float]:
        report = json.loads(output.splitlines()[-1])
        return {
            "load": report["load_seconds"] * 1e6,
            "first run": report["first_run_seconds"] * 1e6,
            "steady min": report["min_seconds"] * 1e6,
            "steady p50": report["p50_seconds"] * 1e6,
            "steady p90": report["p90_seconds"] * 1e6,
            "steady p99": report["p99_seconds"] * 1e6,
            "processor": report["processor_seconds"] * 1e6,
            "peak MB": report["peak_memory_bytes"] / 2**20,
        }

    @staticmethod
    def theirs(report: dict) -> dict[str, float]:
        return {
            "load": report["load"],
            "first run": report["first_run"],
            "steady min": report["steady"]["min"],
            "steady p50": report["steady"]["p50"],
            "steady p90": report["steady"]["p90"],
            "steady p99": report["steady"]["p99"],
            "processor": report["steady"]["processor"],
            "peak MB": report["peak_rss_kb"] / 1024,
        }


def export_words(network: Network) -> list[object]:
    if list(network.methods) == ["forward"]:
        return [network.methods["forward"]]
    return [w for m, f in network.methods.items() for w in ("--method", f"{m}={f}")]


def _petrel(name: str, binary: pathlib.Path, work: pathlib.Path, network: Network,
            backend: str) -> Side:
    pte = work / name / f"{network.name}.{backend}.bench.pte"
    pte.parent.mkdir(parents=True, exist_ok=True)
    command(binary, "export", *export_words(network), "--backend", backend, "-o", pte)
    return Side(name, [binary, "run", pte], [binary, "bench", pte], pte)


def _wheel(work: pathlib.Path, network: Network, backend: str) -> Side:
    pte = work / "wheel" / f"{network.name}.{backend}.bench.pte"
    try:
        wheel_exports.export(network.methods, backend, 0, pte)
    except wheel_exports.ExportError as why:
        raise Failed(str(why)) from None
    runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"
    share = ["--share-arenas"] if len(network.methods) > 1 else []
    return Side("wheel", [runner, pte, *share], [runner, pte], pte)


def ours(petrel: pathlib.Path, work: pathlib.Path, network: Network, backend: str) -> Side:
    """What is compared; nothing asks the wheel, whose compiler may refuse the network."""
    return _petrel("petrel", petrel, work, network, backend)


def prepare(petrel: pathlib.Path, work: pathlib.Path, network: Network, backend: str,
            against: pathlib.Path | None = None) -> list[Side]:
    """Ours, then what it is compared with: the build `against`, else the wheel."""
    side = ours(petrel, work, network, backend)
    if against is None:
        return [side, _wheel(work, network, backend)]
    return [side, _petrel("against", against, work, network, backend)]
