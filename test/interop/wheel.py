# SPDX-License-Identifier: Apache-2.0
"""The ExecuTorch wheel's Python runtime, called in a worker process.

A file that makes the wheel abort must fail one row of the table and not end
the tool, hence the process of its own.

  with Worker() as worker:
      outputs = worker.run(pte, ptd, [inputs_0, inputs_1])
      counts = worker.describe(pte)["forward"]
"""

import concurrent.futures
import multiprocessing
import os
import pathlib

import numpy as np


class WheelError(Exception):
    """The wheel refused a file, failed, or died."""


def _run(pte: str, ptd: str | None, examples: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    import executorch.kernels.quantized  # noqa: F401, kernels as are those of the next
    import torch
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(pte, data_path=ptd).load_method("forward")
    results = []
    for inputs in examples:
        outputs = method.execute([torch.from_numpy(x) for x in inputs])
        results.append([
            y.detach().contiguous().numpy().copy() if isinstance(y, torch.Tensor) else np.asarray(y)
            for y in outputs
        ])  # fmt: skip
    return results


def _describe(pte: str) -> dict[str, dict[str, int]]:
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(pathlib.Path(pte).read_bytes()).program
    counts = {}
    for plan in program.execution_plan:
        kinds = [type(i.instr_args).__name__ for chain in plan.chains for i in chain.instructions]
        counts[plan.name] = {
            "delegate_calls": kinds.count("DelegateCall"),
            "kernel_calls": kinds.count("KernelCall"),
            "arena_bytes": sum(plan.non_const_buffer_sizes),
        }
    return counts


def _silence() -> None:
    """The wheel's imports print warnings that have nothing to do with us."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


class Worker:
    def __init__(self) -> None:
        self._pool = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _call(self, function, *args):
        if self._pool is None:
            self._pool = concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=_silence
            )
        try:
            return self._pool.submit(function, *args).result()
        except concurrent.futures.process.BrokenProcessPool:
            self._pool = None
            raise WheelError("the wheel's Python runtime died") from None
        except Exception as error:
            raise WheelError(f"the wheel's Python: {error}") from None

    def run(self, pte: pathlib.Path, ptd: pathlib.Path | None, examples):
        return self._call(_run, str(pte), str(ptd) if ptd else None, examples)

    def describe(self, pte: pathlib.Path) -> dict[str, dict[str, int]]:
        """Calls and bytes by method."""
        return self._call(_describe, str(pte))
