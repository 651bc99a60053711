# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX file in ONNX Runtime or OpenVINO, or a LiteRT file.

  peer_runner.py ENGINE MODEL --inputs X.npy... --threads N [--seconds S] [--output-dir DIR]

ENGINE is onnxruntime, openvino or litert. Prints a JSON object with the times of load,
first run and steady runs in microseconds, as test/interop/wheel_runner.cpp
does. Inputs and outputs are bound once, where the engine can, so that little of
a steady run is Python's; and so is not the peak of memory: it is what came on top of
Python and the engine's own code.
"""

import argparse
import json
import pathlib
import re
import statistics
import time
from typing import Callable

import numpy as np

Engine = tuple[Callable[[], None], Callable[[], list[np.ndarray]]]  # run, outputs


def onnxruntime_session(model: str, threads: int):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def openvino_request(model: str, threads: int):
    import openvino as ov

    compiled = ov.Core().compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    })
    return compiled.create_infer_request()


def onnxruntime(model: str, inputs: list[np.ndarray], threads: int) -> Engine:
    session = onnxruntime_session(model, threads)
    binding = session.io_binding()
    for slot, array in zip(session.get_inputs(), inputs, strict=True):
        binding.bind_cpu_input(slot.name, array)
    for slot in session.get_outputs():
        binding.bind_output(slot.name)
    return (lambda: session.run_with_iobinding(binding)), binding.copy_outputs_to_cpu


def openvino(model: str, inputs: list[np.ndarray], threads: int) -> Engine:
    import openvino as ov

    request = openvino_request(model, threads)
    for i, array in enumerate(inputs):
        request.set_input_tensor(i, ov.Tensor(array, shared_memory=True))
    outputs = lambda: [np.array(t.data) for t in request.output_tensors]
    return request.infer, outputs


def litert(model: str, inputs: list[np.ndarray], threads: int) -> Engine:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=model, num_threads=threads)
    interpreter.allocate_tensors()
    # Names are serving_default_args_1_0, output_1: details come in any order. The converter
    # makes integers of 64 bits into 32.
    numbers = lambda slot: [int(digits) for digits in re.findall(r"\d+", slot["name"])]
    for slot, array in zip(sorted(interpreter.get_input_details(), key=numbers), inputs,
                           strict=True):
        scale, zero_point = slot["quantization"]
        if slot["dtype"] == np.int8 and scale:  # a quantised file's
            array = np.clip(np.rint(array / np.float32(scale)) + zero_point, -128, 127)
            array = array.astype(np.int8)
        interpreter.set_tensor(slot["index"], array.astype(slot["dtype"], casting="same_kind"))

    def output(slot: dict) -> np.ndarray:
        scale, zero_point = slot["quantization"]
        made = interpreter.get_tensor(slot["index"])
        if made.dtype != np.int8 or not scale:
            return made
        return (made.astype(np.float32) - zero_point) * np.float32(scale)

    outputs = sorted(interpreter.get_output_details(), key=numbers)
    return interpreter.invoke, lambda: [output(slot) for slot in outputs]


ENGINES = {"onnxruntime": onnxruntime, "openvino": openvino, "litert": litert}
PACKAGES = {"litert": "ai_edge_litert.interpreter"}


def microseconds(start: float) -> float:
    return (time.perf_counter() - start) * 1e6


def peak_kb() -> int:
    """Of this process alone: getrusage would count the one that started it."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("model")
    parser.add_argument("--inputs", nargs="+", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--output-dir", type=pathlib.Path)
    args = parser.parse_args()
    inputs = [np.load(f) for f in args.inputs]
    # Python's own loading is not the engine's.
    __import__(PACKAGES.get(args.engine, args.engine))
    before = peak_kb()

    start = time.perf_counter()
    run, outputs = ENGINES[args.engine](args.model, inputs, args.threads)
    load = microseconds(start)
    start = time.perf_counter()
    run()
    first_run = microseconds(start)
    if args.output_dir:
        for i, array in enumerate(outputs()):
            np.save(args.output_dir / f"output_{i}.npy", array)

    report: dict = {"load": load, "first_run": first_run}
    if args.seconds:
        for _ in range(3):
            run()
        times: list[float] = []
        processor = time.process_time()
        end = time.perf_counter() + args.seconds
        while len(times) < 30 or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(microseconds(start))
        processor = (time.process_time() - processor) * 1e6 / len(times)
        times.sort()
        report["steady"] = {"min": times[0], "p50": statistics.median(times),
                            "p90": times[len(times) * 9 // 10],
                            "p99": times[len(times) * 99 // 100], "processor": processor}
    report["peak_rss_kb"] = peak_kb() - before
    print(json.dumps(report))


if __name__ == "__main__":
    main()
