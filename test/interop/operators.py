#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch's own samples of its operators, here and in the ExecuTorch wheel.

  test/interop/operators --dtype int64 --samples 3
  test/interop/operators gather topk

For each operator of torch's table for its own tests, some samples are exported:

  ours    our file here gives what eager torch gives
  theirs  the wheel's file does in its own runtime
  file    the wheel's file does here

One line for each operator of which the wheel has a sample that we have not, as ours or as
file; then the sums by dtype and "N passed, N failed" of operators. What is named in KNOWN
is shown with its reason and counts as neither.
"""

import collections
import logging
import os
import pathlib
import sys
import tempfile

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import tool_parser
import wheel
from command import Failed, command

DTYPES = ("float32", "int64", "float16", "bool", "int32", "uint8", "float64")
# relative and absolute
TOLERANCES = {"float16": (5e-3, 5e-3), "float64": (1e-6, 1e-6)}
COMPLEX = "complex numbers at a border"
TRAINING = "training"
RANDOM = "random or undefined elements"
KNOWN = {
    **dict.fromkeys("stft cfloat cdouble chalf fft.rfft fft.rfft2 fft.rfftn fft.ihfft fft.ihfft2 "
                    "fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.hfft fft.hfft2 fft.hfftn fft.fft "
                    "fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn istft complex".split(), COMPLEX),
    **dict.fromkeys("_softmax_backward_data native_dropout_backward native_batch_norm "
                    "nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d "
                    "nn.functional.alpha_dropout nn.functional.feature_alpha_dropout.with_train "
                    "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss "
                    "nn.functional.poisson_nll_loss".split(), TRAINING),
    **dict.fromkeys("bernoulli rand_like randn_like randint randint_like empty empty_like new_empty "
                    "empty_permuted geometric normal exponential uniform log_normal cauchy "
                    "multinomial".split(), RANDOM),
    "topk": "which of equal elements comes first",
    "_chunk_cat": "for several machines",
    "resize_": "in-place sizes",
    "_unsafe_masked_index": "what compilers make",
    "_unsafe_masked_index_put_accumulate": "what compilers make",
}


class Sample(torch.nn.Module):
    """An operator with everything but its tensors."""

    def __init__(self, operator, sample):
        super().__init__()
        self.operator, self.tensors = operator, []
        self.arguments = self._taken((sample.input, *sample.args))
        self.keywords = {name: self._taken(value) for name, value in sample.kwargs.items()}
        self.tensors = [tensor.clone().contiguous() for tensor in self.tensors]

    def _taken(self, value):
        """With a number, in a list, in the place of each tensor."""
        if isinstance(value, torch.Tensor):
            self.tensors.append(value)
            return [len(self.tensors) - 1]
        if isinstance(value, (list, tuple)):
            return tuple(map(self._taken, value)), type(value)
        return value, None

    def _given(self, value, tensors):
        if isinstance(value, list):
            return tensors[value[0]]
        held, kind = value
        return kind(self._given(item, tensors) for item in held) if kind else held

    def forward(self, *tensors):
        keywords = {name: self._given(value, tensors) for name, value in self.keywords.items()}
        result = self.operator(*self._given(self.arguments, tensors), **keywords)
        return tuple(result) if isinstance(result, tuple) else result


def difference(outputs, expected, tolerance) -> str:
    outputs = outputs[len(outputs) - len(expected):]
    if len(outputs) != len(expected):
        return f"{len(outputs)} outputs, expected {len(expected)}"
    for got, want in zip(outputs, expected):
        want = want.numpy() if isinstance(want, torch.Tensor) else np.asarray(want)
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
        if not np.allclose(got.astype(np.float64), want.astype(np.float64), *tolerance, equal_nan=True):
            return "other values"
    return ""


class Bench:
    """The files and processes that one sample after the other uses."""

    def __init__(self, petrel, worker, folder: pathlib.Path):
        self.petrel, self.worker, self.folder = petrel, worker, folder

    def run(self, pte, inputs):
        words, out = [self.petrel, "run", pte], self.folder / "out"
        for i, tensor in enumerate(inputs):
            np.save(self.folder / f"in_{i}.npy", tensor.numpy())
            words += ["--input", self.folder / f"in_{i}.npy"]
        for old in out.glob("*") if out.exists() else ():
            old.unlink()
        command(*words, "--output-dir", out)
        files = sorted(out.glob("output_*.npy"), key=lambda f: int(f.stem.split("_")[1]))
        return [np.load(file) for file in files]

    def ours(self, program, inputs):
        torch.export.save(program, self.folder / "sample.pt2")
        command(self.petrel, "export", self.folder / "sample.pt2", "-o", self.folder / "ours.pte",
                "--backend", "none")
        return self.run(self.folder / "ours.pte", inputs)

    def theirs(self, program, inputs):
        from executorch.exir import EdgeCompileConfig, to_edge

        edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        edge.to_executorch().save(str(self.folder / "theirs.pte"))
        return self.worker.run(self.folder / "theirs.pte", None, [[t.numpy() for t in inputs]])[0]

    def file(self, program, inputs):
        return self.run(self.folder / "theirs.pte", inputs)

    def why_not(self, way, program, inputs, expected, tolerance) -> str:
        """Empty where the way gives what is expected."""
        try:
            return difference(way(program, inputs), expected, tolerance)
        except Failed as error:
            return str(error)
        except Exception as error:  # whatever the wheel's compiler throws
            return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def sample_results(bench: Bench, info, dtype: torch.dtype, count: int, sums):
    """(sample, way, why) of each that only the wheel has."""
    name = str(dtype).removeprefix("torch.")
    tolerance = TOLERANCES.get(name, (1e-4, 1e-4))
    samples = list(info.sample_inputs("cpu", dtype, requires_grad=False))
    chosen = sorted({i * (len(samples) - 1) // max(count - 1, 1) for i in range(count)}) if samples else []
    for i in chosen:
        torch.manual_seed(0)
        try:
            module = Sample(info.op, samples[i]).eval()
            expected = module(*[tensor.clone() for tensor in module.tensors])
            program = torch.export.export(module, tuple(module.tensors))
        except Exception:  # torch itself does not export it
            continue
        call = (program, module.tensors, torch.utils._pytree.tree_leaves(expected), tolerance)
        ours = bench.why_not(bench.ours, *call)
        theirs = bench.why_not(bench.theirs, *call)
        sums[name]["samples"] += 1
        sums[name]["ours"] += not ours
        sums[name]["theirs"] += not theirs
        if theirs:
            continue
        if ours:
            yield i, "ours", ours
        file = bench.why_not(bench.file, *call)
        sums[name]["file"] += not file
        if file:
            yield i, "file", file


def all_results(options, bench: Bench) -> tuple[int, int]:
    sums = collections.defaultdict(collections.Counter)
    passed, failed = set(), set()
    for name in options.dtype or DTYPES[:1]:
        dtype = getattr(torch, name)
        for info in op_db:
            title = ".".join(filter(None, (info.name, info.variant_test_name)))
            if dtype not in info.dtypes or (options.names and title not in options.names):
                continue
            gaps = list(sample_results(bench, info, dtype, options.samples, sums))
            for i, way, why in gaps:
                reason = f" ({KNOWN[title]})" if title in KNOWN else ""
                print(f"{title} {name} sample {i}, {way}{reason}: {why[:300]}", flush=True)
            if title not in KNOWN:
                (failed if gaps else passed).add(title)
    print(f"{'dtype':10} {'samples':>8} {'ours':>8} {'theirs':>8} {'file':>8}")
    for name, sum_ in sums.items():
        print(f"{name:10}", *(f"{sum_[key]:8}" for key in ("samples", "ours", "theirs", "file")))
    return len(passed - failed), len(failed)


def main() -> int:
    parser = tool_parser.ToolParser(__doc__, "petrel")
    parser.add_argument("--dtype", action="append", choices=DTYPES, help="may be repeated")
    parser.add_argument("--samples", type=int, default=3, help="of each operator")
    parser.add_argument("names", nargs="*", metavar="OPERATOR", help="as torch names it, such as std.unbiased")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what torch and the wheel say of themselves
    torch.set_grad_enabled(False)
    with wheel.Worker() as worker, tempfile.TemporaryDirectory() as folder:
        passed, failed = all_results(options, Bench(options.petrel, worker, pathlib.Path(folder)))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
