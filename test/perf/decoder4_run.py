# SPDX-License-Identifier: Apache-2.0
"""Runs the decoder of decoder4_model.py in llama.cpp or in the ExecuTorch wheel.

  decoder4_run.py llama|wheel MODEL --tokens TOKENS.npy --prompt N --threads N
                  [--logits OUT.npy] [--rounds N]

The first N tokens are the prompt, the rest follow one by one. Writes the logits after the prompt and
after each token. With --rounds reads the prompt and the token after it as often, and prints a
JSON object: {"load", "prefill", "decode": microseconds, medians; "peak_kb"}, the peak being what
came on top of Python and the engine's code.
"""

import argparse
import json
import pathlib
import statistics
import time
from typing import Callable

import numpy as np

Step = Callable[[np.ndarray, int], np.ndarray]  # tokens, position -> logits of the last


def llama(model: str, threads: int, context: int) -> Step:
    import llama_cpp as api

    weights = api.llama_model_load_from_file(model.encode(), api.llama_model_default_params())
    options = api.llama_context_default_params()
    options.n_ctx = options.n_batch = options.n_ubatch = context
    options.n_threads = options.n_threads_batch = threads
    engine = api.llama_init_from_model(weights, options) if weights else None
    if not engine:
        raise SystemExit(f"llama.cpp could not load {model}")
    memory = api.llama_get_memory(engine)
    words = api.llama_vocab_n_tokens(api.llama_model_get_vocab(weights))

    def step(tokens: np.ndarray, position: int) -> np.ndarray:
        api.llama_memory_seq_rm(memory, 0, position, -1)  # what an earlier round wrote
        kept = (api.llama_token * len(tokens))(*tokens)  # the batch points there
        batch = api.llama_batch_get_one(kept, len(tokens))
        if api.llama_decode(engine, batch) != 0:
            raise SystemExit(f"llama.cpp could not read {len(tokens)} tokens at {position}")
        return np.ctypeslib.as_array(api.llama_get_logits_ith(engine, -1), (words,))

    return step


def wheel(model: str, threads: int, context: int) -> Step:
    import torch
    from executorch.extension.pybindings.portable_lib import _unsafe_reset_threadpool
    from executorch.runtime import Runtime

    del context  # the program's
    _unsafe_reset_threadpool(threads)
    method = Runtime.get().load_program(model).load_method("forward")

    def step(tokens: np.ndarray, position: int) -> np.ndarray:
        inputs = [torch.from_numpy(tokens[None]), torch.tensor([position])]
        return method.execute(inputs)[0].numpy()[0]

    return step


ENGINES = {"llama": llama, "wheel": wheel}


def import_engine(name: str) -> None:
    """Python's own loading is not the engine's."""
    if name == "llama":
        import llama_cpp

        quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(quiet, None)
        import_engine.kept = quiet
        llama_cpp.llama_backend_init()
        return
    import executorch.kernels.quantized  # noqa: F401, kernels as are those of the next
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.runtime import Runtime

    Runtime.get()


def peak_kb() -> int:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("model")
    parser.add_argument("--tokens", type=pathlib.Path, required=True)
    parser.add_argument("--prompt", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--logits", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=0)
    args = parser.parse_args()
    tokens = np.load(args.tokens)[0]
    prompt, rest = tokens[:args.prompt], tokens[args.prompt:]
    import_engine(args.engine)
    before = peak_kb()

    def timed(run: Callable):
        start = time.perf_counter()
        result = run()
        return result, (time.perf_counter() - start) * 1e6

    step, load = timed(lambda: ENGINES[args.engine](args.model, args.threads, args.context))
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
