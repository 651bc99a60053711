#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exchanges programs with the ExecuTorch wheel and compares with eager torch.

  test/interop/run [--petrel BINARY] [--work DIR] [--all] [--every-isa] [NAME ...]

For each model, {none, xnnpack} and {weights inline, weights in a .ptd}:

  petrel -> petrel   our file in our runtime
  petrel -> python   our file in the wheel's Python runtime
  petrel -> c++      our file in the C++ runtime of the wheel's SDK
  wheel  -> petrel   the wheel's file in our runtime
  petrel -> netron   our file in Netron's parser

each on two inputs, all outputs counted, by the rule in agreement.py; and

  petrel -> .so      our generated C as a library, which also computes bit for
                     bit what our runtime does with its reference kernels

With --every-isa what runs in our runtime runs under each instruction set that
this machine has. Then two methods in one program with shared arenas; a decoder
whose prefill and decode share weights and cache, 32 tokens of which must be
eager torch's; a program of the wheel whose weights lie in two .ptd; and the cost
of exporting beside the wheel's. Without names the models of DEFAULT run, with
--all those of MORE too. The last line is "N passed, N failed"; the exit status is
1 when anything failed, 2 on wrong usage.
"""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable

import numpy as np
import torch

import agreement
import generated_c
import wheel
import wheel_exports
from command import TIMEOUT_S, Failed, command
from tool_parser import ToolParser

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "test" / "models"))

import decoder  # noqa: E402

DEFAULT = ["digits", "mlp", "mobilenet_v2", "resnet18", "vit_tiny", "minilm", "decoder"]
MORE = ["lstm", "resnet50", "efficientnet_b0"]  # the wheel takes minutes to lower an LSTM
NAMES = [name for name in DEFAULT + MORE if name != "decoder"]  # of one method
LARGE = ["mobilenet_v2", "resnet18"]
METHODS_ALLOWANCE = 1.01  # of the bytes of a program with one method
TOKENS = 32
BACKENDS = ["none", "xnnpack"]
STORAGES = ["inline", "ptd"]
RSS_ALLOWANCE_MB = 200.0
# Bytes of a program whose weights are external, and of each of its calls.
PROGRAM_ALLOWANCE, CALL_ALLOWANCE = 64 * 1024, 160


@dataclasses.dataclass
class Example:
    inputs: list[pathlib.Path]
    expected: list[np.ndarray]


@dataclasses.dataclass
class Case:
    """One program file, ours or the wheel's, with what it must compute."""

    model: str
    backend: str
    storage: str
    pte: pathlib.Path

    @property
    def ptd(self) -> pathlib.Path | None:
        return self.pte.with_suffix(".ptd") if self.storage == "ptd" else None

    @property
    def data_words(self) -> list[object]:
        return ["--data", self.ptd] if self.ptd else []


def read_examples(folder: pathlib.Path, name: str) -> list[Example]:
    def files(kind: str, example: int) -> list[pathlib.Path]:
        count = len(list(folder.glob(f"{name}.{kind}_{example}_*.npy")))
        return [folder / f"{name}.{kind}_{example}_{i}.npy" for i in range(count)]

    return [
        Example(files("input", e), [np.load(f) for f in files("output", e)]) for e in range(2)
    ]


class Table:
    """Prints rows as they come and counts them."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def gap(self) -> None:
        print(flush=True)

    def row(self, label: str, check: Callable[[], str]) -> bool:
        try:
            detail, ok = check(), True
        except (Failed, agreement.Disagreement, wheel.WheelError,
                wheel_exports.ExportError) as why:
            detail, ok = " ".join(str(why).split()), False
        self.passed += ok
        self.failed += not ok
        print(f"{'ok  ' if ok else 'FAIL'}  {label}  {detail}", flush=True)
        return ok


class Interop:
    def __init__(self, petrel: pathlib.Path, work: pathlib.Path, worker: wheel.Worker,
                 levels: list[str]) -> None:
        self.petrel, self.work, self.worker, self.table = petrel, work, worker, Table()
        self.levels = levels  # of instruction sets, besides the machine's own
        self.models = work / "models"
        self.ours = work / "petrel"
        self.theirs = work / "wheel"
        self.runner = pathlib.Path(sys.prefix) / "bin" / "wheel_runner"
        for folder in (self.models, self.ours, self.theirs):
            folder.mkdir(parents=True, exist_ok=True)

    # Exports.

    def export_ours(self, case: Case) -> None:
        words: list[object] = [self.petrel, "export", self.models / f"{case.model}.pt2"]
        words += ["-o", case.pte, "--backend", case.backend]
        if case.ptd:
            words += ["--external-weights", case.ptd]
        command(*words)

    def export_theirs(self, case: Case, fresh: bool = False) -> dict[str, float]:
        """`fresh` where the time counts; else a kept export will do."""
        methods = {"forward": self.models / f"{case.model}.pt2"}
        external = 1 if case.ptd else 0
        return wheel_exports.export(methods, case.backend, external, case.pte, fresh)

    # Ways to run a case; each gives the outputs of both examples.

    def files_of(self, run: Callable[[Example, pathlib.Path], object], examples: list[Example]):
        results = []
        for example in examples:
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                out = pathlib.Path(folder)
                run(example, out)
                count = len(list(out.glob("output_*.npy")))
                results.append([np.load(out / f"output_{i}.npy") for i in range(count)])
        return results

    def in_petrel(self, case: Case, examples: list[Example], level: str = ""):
        isa = ["--isa", level] if level else []

        def run(example: Example, out: pathlib.Path) -> None:
            inputs = [w for f in example.inputs for w in ("--input", f)]
            command(self.petrel, "run", case.pte, *case.data_words, *inputs, "--output-dir", out,
                    *isa)

        return self.files_of(run, examples)

    def in_runner(self, case: Case, examples: list[Example]):
        def run(example: Example, out: pathlib.Path) -> None:
            inputs = [w for f in example.inputs for w in ("--input", f)]
            command(self.runner, case.pte, *case.data_words, *inputs, "--output-dir", out,
                    "--threads", os.cpu_count())

        return self.files_of(run, examples)

    def in_python(self, case: Case, examples: list[Example]):
        inputs = [[np.load(f) for f in e.inputs] for e in examples]
        return self.worker.run(case.pte, case.ptd, inputs)

    # Rows.

    def compare(self, run, case: Case | None, examples: list[Example]) -> str:
        start = time.perf_counter()
        results = run(case, examples)
        worst = agreement.Worst()
        for e, (actual, example) in enumerate(zip(results, examples, strict=True)):
            try:
                worst.include(agreement.compare(actual, example.expected))
            except agreement.Disagreement as why:
                raise agreement.Disagreement(f"input {e}: {why}") from None
        seconds = time.perf_counter() - start
        return f"error {worst.error:.1e}  cosine {worst.cosine:.7f}  {seconds:.1f} s"

    def at_every_level(self, label: str, case: Case, examples: list[Example]) -> None:
        for level in self.levels:
            def check(level: str = level) -> str:
                return self.compare(lambda c, e: self.in_petrel(c, e, level), case, examples)

            self.table.row(f"{label} at {level}", check)

    def in_netron(self, case: Case) -> str:
        folder = next(pathlib.Path(sys.prefix).glob("lib/python3*/site-packages/netron"))
        opener = ROOT / "test" / "netron" / "open.mjs"
        done = subprocess.run(
            ["node", opener, folder, case.pte], capture_output=True, text=True, timeout=TIMEOUT_S
        )
        lines = done.stdout.splitlines()
        if not lines:
            raise Failed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output")
        seen = json.loads(lines[-1])
        if "error" in seen:
            raise Failed(seen["error"])
        graph = seen["graphs"][0]
        inner = graph["inner"]
        nodes, layers = sum(graph["nodes"].values()), sum(inner["nodes"].values())
        if case.backend == "none" and nodes == 0:
            raise Failed("no operators are shown")
        if case.backend == "xnnpack" and (not graph["delegates"] or layers == 0):
            raise Failed("no delegate is shown with its layers")
        bytes_shown = graph["constant_bytes"] + inner["constant_bytes"]
        if case.storage == "inline" and bytes_shown == 0:
            raise Failed("no constant is shown")
        return f"{nodes} operators, {layers} delegated, {bytes_shown} constant bytes"

    def exchange(self, model: str, examples: list[Example]) -> None:
        for backend in BACKENDS:
            for storage in STORAGES:
                name = f"{model}.{backend}.{storage}.pte"
                ours = Case(model, backend, storage, self.ours / name)
                theirs = Case(model, backend, storage, self.theirs / name)
                label = f"{model:12s} {backend:7s} {storage:6s}"
                self.table.gap()

                def exported() -> str:
                    for old in (ours.pte, ours.ptd):
                        if old:
                            old.unlink(missing_ok=True)
                    self.export_ours(ours)
                    sizes = [f.stat().st_size for f in (ours.pte, ours.ptd) if f]
                    counts = self.worker.describe(ours.pte)["forward"]
                    calls = counts["delegate_calls"] + counts["kernel_calls"]
                    allowed = PROGRAM_ALLOWANCE + CALL_ALLOWANCE * calls + sizes[-1] // 20
                    if ours.ptd and sizes[0] > allowed:
                        raise Failed(f"weights stay inside: {sizes[0]} bytes of program, "
                                     f"{sizes[1]} of external weights")
                    return (f"{' + '.join(map(str, sizes))} bytes, {counts['delegate_calls']} delegate "
                            f"calls, {counts['kernel_calls']} kernels, arena {counts['arena_bytes']}")

                self.table.row(f"{label} petrel export   ", exported)
                if ours.pte.exists():
                    for way, run in (("petrel", self.in_petrel), ("python", self.in_python),
                                     ("c++   ", self.in_runner)):
                        self.table.row(f"{label} petrel -> {way}",
                                       lambda: self.compare(run, ours, examples))
                    self.table.row(f"{label} petrel -> netron", lambda: self.in_netron(ours))
                    self.at_every_level(f"{label} petrel -> petrel", ours, examples)
                else:
                    for way in ("petrel", "python", "c++   ", "netron"):
                        self.table.row(f"{label} petrel -> {way}", self.not_exported)

                def wheel_to_petrel() -> str:
                    self.export_theirs(theirs)
                    return self.compare(self.in_petrel, theirs, examples)

                if self.table.row(f"{label} wheel  -> petrel", wheel_to_petrel):
                    self.at_every_level(f"{label} wheel  -> petrel", theirs, examples)

    @staticmethod
    def not_exported() -> str:
        raise Failed("the program was not exported")

    def two_methods(self, examples: dict[str, list[Example]]) -> None:
        """digits and mlp as methods of one program with one .ptd."""
        for backend in BACKENDS:
            pte = self.ours / f"two_methods.{backend}.pte"
            ptd = pte.with_suffix(".ptd")

            def run(program: object, calls: list[str], last: str) -> str:
                with tempfile.TemporaryDirectory(dir=self.work) as folder:
                    out = pathlib.Path(folder)
                    words = [w for c in calls for w in ("--call", c)]
                    command(*program, *words, "--output-dir", out)
                    expected = examples[last][1].expected
                    names = [f"call_2_output_{i}.npy" for i in range(len(expected))]
                    actual = [np.load(out / name) for name in names]
                    worst = agreement.compare(actual, expected)
                    return f"error {worst.error:.1e}  cosine {worst.cosine:.7f}"

            def exported() -> str:
                words = [w for m in ("digits", "mlp")
                         for w in ("--method", f"{m}={self.models / m}.pt2")]
                command(self.petrel, "export", *words, "--backend", backend, "-o", pte,
                        "--external-weights", ptd)
                return f"{pte.stat().st_size} + {ptd.stat().st_size} bytes"

            label = f"{'two methods':12s} {backend:7s} ptd   "
            made = self.table.row(f"{label} petrel export   ", exported)
            for last, first in (("digits", "mlp"), ("mlp", "digits")):
                calls = [f"{m}:" + ",".join(map(str, examples[m][e].inputs))
                         for m, e in ((first, 0), (last, 0), (last, 1))]
                runner = [self.runner, pte, "--data", ptd, "--share-arenas"]
                own = [self.petrel, "run", pte, "--data", ptd]
                for way, program in (("c++   ", runner), ("petrel", own)):
                    check = (lambda p=program: run(p, calls, last)) if made else self.not_exported
                    self.table.row(f"{label} petrel -> {way} {last}", check)

    def generation(self) -> None:
        """prefill and decode in one program: greedy generation, call by call."""
        size = decoder.MEDIUM
        expected = decoder.generate(size, TOKENS)
        prompt = self.models / "decoder.prompt.npy"
        np.save(prompt, expected.prompt.numpy())
        archives = {}
        for method, program in decoder.programs(size).items():
            archives[method] = self.models / f"decoder.{method}.pt2"
            torch.export.save(program, archives[method])
        methods = [w for m, f in archives.items() for w in ("--method", f"{m}={f}")]

        def run(words: list[object]) -> str:
            with tempfile.TemporaryDirectory(dir=self.work) as folder:
                out = pathlib.Path(folder)
                calls: list[object] = ["--call", f"prefill:{prompt}"]
                for i in range(TOKENS - 1):
                    at = out / f"at_{i}.npy"
                    np.save(at, np.array([size.prompt + i]))
                    calls += ["--call", f"decode:{out}/call_{i}_output_1.npy,{at}"]
                command(*words, *calls, "--output-dir", out)
                logits, tokens = ([np.load(out / f"call_{i}_output_{o}.npy") for i in range(TOKENS)]
                                  for o in (0, 1))
                made = [int(t[0, 0]) for t in tokens]
                wanted = expected.tokens[0].tolist()
                if made != wanted:
                    first = next(i for i in range(TOKENS) if made[i] != wanted[i])
                    raise Failed(f"token {first} is {made[first]}, expected {wanted[first]}")
                worst = agreement.compare([np.concatenate(logits)], [expected.logits.numpy()])
                return f"{TOKENS} tokens equal, logits error {worst.error:.1e}"

        for backend in BACKENDS:
            for storage in STORAGES:
                ours = Case("decoder", backend, storage, self.ours / f"decoder.{backend}.{storage}.pte")
                label = f"{'decoder':12s} {backend:7s} {storage:6s}"
                self.table.gap()

                def exported(words: list[object], pte: pathlib.Path) -> int:
                    words = [self.petrel, "export", *words, "--backend", backend, "-o", pte]
                    ptd = pte.with_suffix(".ptd")
                    if storage == "ptd":
                        words += ["--external-weights", ptd]
                    command(*words)
                    return pte.stat().st_size + (ptd.stat().st_size if storage == "ptd" else 0)

                def sizes() -> str:
                    one = max(exported(["--method", f"{m}={f}"], self.ours / f"decoder.{m}.pte")
                              for m, f in archives.items())
                    both = exported(methods, ours.pte)
                    text = f"{both} bytes, {both / one:.4f} of one method's {one}"
                    if both > METHODS_ALLOWANCE * one:
                        raise Failed(f"{text}, allowed {METHODS_ALLOWANCE}")
                    return text

                made = self.table.row(f"{label} petrel export   ", sizes)
                for way, words in (
                    ("petrel", [self.petrel, "run", ours.pte, *ours.data_words]),
                    ("c++   ", [self.runner, ours.pte, *ours.data_words, "--share-arenas"]),
                ):
                    self.table.row(f"{label} petrel -> {way}",
                                   (lambda w=words: run(w)) if made else self.not_exported)

            theirs = self.theirs / f"decoder.{backend}.pte"

            def wheel_to_petrel() -> str:
                wheel_exports.export(archives, backend, 0, theirs)
                return run([self.petrel, "run", theirs])

            self.table.row(f"{'decoder':12s} {backend:7s} inline wheel  -> petrel", wheel_to_petrel)

    def two_files(self, examples: list[Example]) -> None:
        """The wheel's mlp with weights dealt out to two .ptd."""
        for backend in BACKENDS:
            pte = self.theirs / f"mlp.{backend}.two.pte"
            data = [w for i in range(2) for w in ("--data", pte.with_suffix(f".{i}.ptd"))]

            def check() -> str:
                wheel_exports.export({"forward": self.models / "mlp.pt2"}, backend, 2, pte)

                def run(example: Example, out: pathlib.Path) -> None:
                    inputs = [w for f in example.inputs for w in ("--input", f)]
                    command(self.petrel, "run", pte, *data, *inputs, "--output-dir", out)

                return self.compare(lambda _, e: self.files_of(run, e), None, examples)

            self.table.row(f"{'mlp':12s} {backend:7s} 2 ptd  wheel  -> petrel", check)

    def export_cost(self, model: str) -> None:
        pt2 = self.models / f"{model}.pt2"
        weights_mb = pt2.stat().st_size / 2**20
        pte = self.ours / f"{model}.cost.pte"
        reports = []

        def ours() -> str:
            for _ in range(3):
                report = self.work / "measured.json"
                command(sys.executable, "-I", "-S", HERE / "measured.py", report,
                        self.petrel, "export", pt2, "-o", pte)
                reports.append(json.loads(report.read_text()))
            counts = self.worker.describe(pte)["forward"]
            if counts["delegate_calls"] != 1 or counts["kernel_calls"] != 0:
                raise Failed(f"{counts['delegate_calls']} delegate calls and "
                             f"{counts['kernel_calls']} kernels, expected 1 and 0")
            return "one delegate call, no kernels"

        made = self.table.row(f"{model:12s} delegated whole   ", ours)

        def memory() -> str:
            peak = max(r["peak_rss_mb"] for r in reports)
            text = f"peak {peak:.0f} MB, weights {weights_mb:.0f} MB"
            if peak > weights_mb + RSS_ALLOWANCE_MB:
                raise Failed(f"{text}, allowed {weights_mb + RSS_ALLOWANCE_MB:.0f} MB")
            return text

        def ratio() -> str:
            theirs = self.export_theirs(
                Case(model, "xnnpack", "inline", self.theirs / f"{model}.cost.pte"), fresh=True)
            seconds = statistics.median(r["seconds"] for r in reports)
            text = (f"{seconds:.3f} s whole export, wheel {theirs['lower_s']:.1f} s to lower: "
                    f"{theirs['lower_s'] / seconds:.0f}x (wheel peak {theirs['peak_rss_mb']:.0f} MB)")
            return text  # a time: told, and never the reason for a failure

        self.table.row(f"{model:12s} export memory     ", memory if made else self.not_exported)
        self.table.row(f"{model:12s} export time       ", ratio if made else self.not_exported)


def main() -> int:
    known = DEFAULT + MORE
    parser = ToolParser(__doc__, "petrel", names=known,
                        epilog="See the head of run.py for the table's rows.")
    parser.add_argument("--work", type=pathlib.Path, help="keep all files here")
    parser.add_argument("--all", action="store_true", help=f"also {', '.join(MORE)}")
    parser.add_argument("--every-isa", action="store_true",
                        help="run under each instruction set that this machine has")
    args = parser.parse_args()
    levels = (command(args.petrel, "run", "--isa", "list").split() if args.every_isa else [])
    asked = args.names or (known if args.all else DEFAULT)
    names = [name for name in asked if name != "decoder"]
    with tempfile.TemporaryDirectory() as scratch, wheel.Worker() as worker:
        interop = Interop(args.petrel, (args.work or pathlib.Path(scratch)).resolve(), worker,
                          [level for level in levels if level != "native"])
        if names:
            command(sys.executable, ROOT / "test" / "models" / "export_models.py",
                    "--out", interop.models, *names)
        examples = {name: read_examples(interop.models, name) for name in names}
        interop.table.row("the rule of agreement rejects what it must",
                          agreement.rule_holds)
        for name in names:
            interop.exchange(name, examples[name])
            interop.table.gap()
            generated_c.compare_model(interop, name, examples[name])
        if {"digits", "mlp"} <= set(names):
            interop.table.gap()
            interop.two_methods(examples)
        if "decoder" in asked:
            interop.generation()
        if "mlp" in names:
            interop.table.gap()
            interop.two_files(examples["mlp"])
        large = [name for name in names if name in LARGE]
        for name in large:
            interop.table.gap()
            interop.export_cost(name)
    table = interop.table
    print(f"\n{table.passed} passed, {table.failed} failed")
    return 0 if table.passed and not table.failed else 1


if __name__ == "__main__":
    sys.exit(main())
