# SPDX-License-Identifier: Apache-2.0
"""Programs of the ExecuTorch wheel whose inputs and outputs are integers, and what they return.

    python -B test/quantized/make_border_programs.py

NAME.border.pte is of the archive NAME.pt2 beside it, changed by QuantizeInputs and
QuantizeOutputs; NAME.border.npy is its output for NAME.input.npy, quantised. Needs torch and
executorch.
"""

import os

import numpy
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge
from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs
from executorch.runtime import Runtime

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


def save(name, prefix):
    """`prefix` is what the names of methods that tell of scales begin with; None for nothing."""
    edge = to_edge(torch.export.load(os.path.join(FOLDER, name + ".pt2")))
    edge = edge.transform([QuantizeInputs(edge, [0], prefix), QuantizeOutputs(edge, [0], prefix)])
    numbers = dict(edge._config_methods)
    path = os.path.join(FOLDER, name + ".border")
    with open(path + ".pte", "wb") as file:
        file.write(edge.to_backend(XnnpackPartitioner()).to_executorch().buffer)
    of_input = (prefix + "_" if prefix else "") + "input0_"
    floats = torch.from_numpy(numpy.load(os.path.join(FOLDER, name + ".input.npy")))
    levels = torch.ops.quantized_decomposed.quantize_per_tensor(
        floats, numbers[of_input + "scale"], numbers[of_input + "zp"],
        numbers[of_input + "quant_min"], numbers[of_input + "quant_max"], torch.int8)
    method = Runtime.get().load_program(path + ".pte").load_method("forward")
    numpy.save(path + ".npy", method.execute([levels])[0].numpy())


if __name__ == "__main__":
    save("image_channel", "forward")
    save("rows", None)
