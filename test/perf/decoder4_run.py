# SPDX-License-Identifier: Apache-2.0
"""Runs the decoder of decoder4_model.py in the ExecuTorch wheel.

  decoder4_run.py MODEL --tokens TOKENS.npy --prompt N --threads N
                  [--logits OUT.npy] [--rounds N]

The first N tokens are the prompt, the rest follow one by one. Writes the logits after the prompt and
after each token. With --rounds reads the prompt and the token after it as often, and prints a
JSON object: {"load", "prefill", "decode": microseconds, medians; "peak_kb"}, the peak being what
came on top of Python and the wheel's code.
"""

import argparse
import json
import pathlib
import statistics
import time
from typing import Callable

import numpy as np

Step = Callable[[np.ndarray, int], np.ndarray]  # tokens, position -> logits of the last


def load_wheel(model: str, threads: int) -> Step:
    import torch
    from executorch.extension.pybindings.portable_lib import _unsafe_reset_threadpool
    from executorch.runtime import Runtime

    _unsafe_reset_threadpool(threads)
    method = Runtime.get().load_program(model).load_method("forward")

    def step(tokens: np.ndarray, position: int) -> np.ndarray:
        inputs = [torch.from_numpy(tokens[None]), torch.tensor([position])]
        return method.execute(inputs)[0].numpy()[0]

    return step


def import_wheel() -> None:
    """Python's own loading is not the wheel's."""
    import executorch.kernels.quantized  # noqa: F401, kernels as are those of the next
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.runtime import Runtime

    Runtime.get()


def peak_kb() -> int:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokens", type=pathlib.Path, required=True)
    parser.add_argument("--prompt", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--logits", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=0)
    args = parser.parse_args()
    tokens = np.load(args.tokens)[0]
    prompt, rest = tokens[:args.prompt], tokens[args.prompt:]
    import_wheel()
    before = peak_kb()

    def timed(run: Callable):
        start = time.perf_counter()
        result = run()
        return result, (time.perf_counter() - start) * 1e6

    step, load = timed(lambda: load_wheel(args.model, args.threads))
    if args.logits:
        logits = [step(prompt, 0).copy()]
        for i in range(len(rest)):
            logits.append(step(rest[i:i + 1], args.prompt + i).copy())
        np.save(args.logits, np.stack(logits))
    report = {"load": load}
    if args.rounds:
        step(prompt, 0), step(rest[:1], args.prompt)
        report["prefill"] = statistics.median(
            timed(lambda: step(prompt, 0))[1] for _ in range(args.rounds))
        report["decode"] = statistics.median(
            timed(lambda: step(rest[:1], args.prompt))[1] for _ in range(8 * args.rounds))
    report["peak_kb"] = peak_kb() - before
    print(json.dumps(report))


if __name__ == "__main__":
    main()
