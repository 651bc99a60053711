# SPDX-License-Identifier: Apache-2.0
"""Runs an encoder of varying length in a peer, in turn and alone, as in_turn.cc runs it in Petrel.

  lengths_runner.py ENGINE MODEL --lengths 8,24 --threads N --seconds S [--output-dir DIR]

ENGINE is wheel, onnxruntime or openvino. Prints microseconds of the run in the middle by length,
in turn and alone; --output-dir keeps what came out, LENGTH.npy.
"""

import argparse
import json
import pathlib
import statistics
import time
from typing import Callable

import numpy as np

from peer_runner import microseconds, onnxruntime_session, openvino_request

Run = Callable[[np.ndarray], np.ndarray]


def wheel(model: str, threads: int) -> Run:
    del threads  # as many as it has processors
    import torch
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(model).load_method("forward")
    return lambda tokens: method.execute([torch.from_numpy(tokens)])[0].numpy()


def onnxruntime(model: str, threads: int) -> Run:
    session = onnxruntime_session(model, threads)
    name = session.get_inputs()[0].name
    return lambda tokens: session.run(None, {name: tokens})[0]


def openvino(model: str, threads: int) -> Run:
    request = openvino_request(model, threads)
    return lambda tokens: request.infer([tokens])[0]


ENGINES = {"wheel": wheel, "onnxruntime": onnxruntime, "openvino": openvino}


def tokens_of(length: int) -> np.ndarray:
    return np.arange(1, length + 1, dtype=np.int64)[None]


def timed(run: Run, tokens: np.ndarray) -> float:
    start = time.perf_counter()
    run(tokens)
    return microseconds(start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("model")
    parser.add_argument("--lengths", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--output-dir", type=pathlib.Path)
    args = parser.parse_args()
    inputs = [tokens_of(int(length)) for length in args.lengths.split(",")]
    run = ENGINES[args.engine](args.model, args.threads)
    if args.output_dir:
        for tokens in inputs:
            np.save(args.output_dir / f"{tokens.size}.npy", run(tokens))
    in_turn: list[list[float]] = [[] for _ in inputs]
    end = time.perf_counter() + args.seconds / 2
    while len(in_turn[0]) < 10 or time.perf_counter() < end:
        for times, tokens in zip(in_turn, inputs):
            times.append(timed(run, tokens))
    report = {}
    for times, tokens in zip(in_turn, inputs):
        alone: list[float] = []
        end = time.perf_counter() + args.seconds / 2 / len(inputs)
        while len(alone) < 10 or time.perf_counter() < end:
            alone.append(timed(run, tokens))
        report[tokens.size] = [statistics.median(times[1:]), statistics.median(alone)]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
