# SPDX-License-Identifier: Apache-2.0
"""Writes programs/: quantised models as archives and as programs of the ExecuTorch 1.5.0
wheel, with inputs and outputs.

    python3 make_programs.py       (torch 2.13.0, executorch 1.5.0, torchao 0.18.0)

NAME.pt2        the archive; not of models that only the wheel's program stands for
NAME.pte        what the wheel lowers to XNNPACK; not of models that it cannot lower
NAME.input.npy, NAME.output.npy (eager torch), NAME.wheel.npy (the wheel's runtime)
quanta.txt      NAME, the step between two levels of its output, 0 for outputs that are not
                quantised, and the signal-to-noise ratio in dB of the wheel's output to
                eager torch's, 0 where there is none
"""
import math
import os
import pathlib
import sys

import executorch.kernels.quantized  # noqa: F401, operators that the wheel does not delegate
import numpy
import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import nn
from torch.export import export
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.quant_api import (
    Float8WeightOnlyConfig,
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.utils import unwrap_tensor_subclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import neutral_archive  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
QUANTA = []


class Image(nn.Module):
    """All that a small vision network has, with a residual."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8, stride=2)
        self.point = nn.Conv2d(8, 16, 1)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x)))
        z = self.point(F.hardtanh(self.depthwise(y), 0.0, 6.0))
        z = F.max_pool2d(z, 2)
        z = z + F.relu(z)
        return self.head(z.mean((2, 3)))


class Mixed(nn.Module):
    """Quantised nodes beside float ones, and joins."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(4, 6, 3, padding=1, groups=2)
        self.two = nn.Conv2d(4, 6, 1)
        self.last = nn.Linear(12, 5)

    def forward(self, x):
        a, b = self.one(x), self.two(x)
        c = torch.cat([a, b], 1) * 1.5
        d = torch.softmax(c.flatten(2), -1).reshape(c.shape)
        return self.last((c * d).permute(0, 2, 3, 1))


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(32, 64)
        self.two = nn.Linear(64, 16)

    def forward(self, x):
        return self.two(F.relu(self.one(x)))


class Filters(nn.Module):
    """Convolutions whose input is quantised at run time."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 8, 3, padding=1)
        self.two = nn.ConvTranspose2d(8, 6, 3, stride=2)

    def forward(self, x):
        return self.two(torch.tanh(self.one(x)))


class Tokens(nn.Module):
    """Two products of one input with a scale for each token, as by hand."""

    def __init__(self):
        super().__init__()
        for name, rows in (("key", 24), ("value", 16)):
            weight = torch.randint(-127, 128, (rows, 32), dtype=torch.int8)
            self.register_buffer(name, weight)
            self.register_buffer(name + "_scale", torch.rand(rows) * 0.01 + 0.001)
            self.register_buffer(name + "_zero", torch.zeros(rows, dtype=torch.int64))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        scale, zero = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
        q = ops.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        d = ops.dequantize_per_token(q, scale, zero, -128, 127, torch.int8, torch.float32)
        key, value = (ops.dequantize_per_channel(
            getattr(self, name), getattr(self, name + "_scale"), getattr(self, name + "_zero"), 0,
            -127, 127, torch.int8) for name in ("key", "value"))
        return torch.cat([F.linear(d, key), F.relu(F.linear(d, value))], -1)


class Groups(nn.Module):
    """Linear layers whose inputs are as long as the groups that they are quantised in."""

    def __init__(self):
        super().__init__()
        self.of_256 = nn.Linear(256, 128)
        self.of_128 = nn.Linear(128, 64)
        self.of_64 = nn.Linear(64, 64, bias=False)
        self.of_32 = nn.Linear(64, 16)

    def forward(self, x):
        return self.of_32(F.relu(self.of_64(F.hardtanh(self.of_128(F.relu(self.of_256(x)))))))


def torchao(model, *configs):
    """Quantises each layer by its config, or all by one."""
    for name, config in configs:
        quantize_(model, config, filter_fn=lambda module, path: isinstance(module, nn.Linear)
                  and (name is None or path == name))
    return unwrap_tensor_subclass(model)


def dynamic(dtype, granularity):
    return Int8DynamicActivationIntxWeightConfig(weight_dtype=dtype, weight_granularity=granularity)


def weight_only(dtype, granularity):
    return IntxWeightOnlyConfig(weight_dtype=dtype, granularity=granularity)


def pt2e(model, inputs, **config):
    torch.manual_seed(11)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**config))
    prepared = prepare_pt2e(export(model, inputs).module(), quantizer)
    for _ in range(4):
        prepared(*[torch.randn_like(x) for x in inputs])
    prepared(*inputs)
    return convert_pt2e(prepared)


def quantum_of(program):
    """The scale of the last quantisation; 0 when the output is not dequantised."""
    last = program.graph.output_node().args[0][0]
    return last.args[1] if "dequantize_per_tensor" in str(last.target) else 0.0


def signal_to_noise(output, exact):
    noise = float(numpy.sum((output - exact).astype(numpy.float64) ** 2))
    signal = float(numpy.sum(exact.astype(numpy.float64) ** 2))
    return min(999.0, 10 * math.log10(signal / noise)) if noise else 999.0


def save(name, model, inputs, lowers=True):
    path = os.path.join(FOLDER, name)
    program = export(model, inputs)
    neutral_archive.save(program, pathlib.Path(path + ".pt2"))
    with torch.no_grad():
        exact = model(*inputs).contiguous().numpy()
    numpy.save(path + ".output.npy", exact)
    numpy.save(path + ".input.npy", inputs[0].numpy())
    if not lowers:
        QUANTA.append(f"{name} {quantum_of(program)} 0")
        return
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    with open(path + ".pte", "wb") as file:
        file.write(edge.to_executorch().buffer)
    method = Runtime.get().load_program(path + ".pte").load_method("forward")
    output = method.execute(list(inputs))[0].numpy()
    numpy.save(path + ".wheel.npy", output)
    QUANTA.append(f"{name} {quantum_of(program)} {signal_to_noise(output, exact):.2f}")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    torch.manual_seed(3)
    image = (torch.randn(1, 3, 16, 16),)
    rows = (torch.randn(3, 32),)
    save("image_tensor", pt2e(Image().eval(), image), image)
    save("image_channel", pt2e(Image().eval(), image, is_per_channel=True), image)
    mixed = (torch.randn(2, 4, 5, 6),)
    save("mixed", pt2e(Mixed().eval(), mixed, is_per_channel=True), mixed)
    save("rows", pt2e(Rows().eval(), rows, is_per_channel=True), rows)
    chosen = {"is_dynamic": True}
    save("rows_dynamic", pt2e(Rows().eval(), rows, is_per_channel=True, **chosen), rows)
    save("rows_dynamic_tensor", pt2e(Rows().eval(), rows, **chosen), rows)
    save("filters_dynamic", pt2e(Filters().eval(), image, is_per_channel=True, **chosen), image)
    tokens = (torch.randn(2, 3, 32),)
    save("tokens_dynamic", Tokens().eval(), tokens)
    row = PerAxis(0)
    save("rows_dynamic_8bit", torchao(Rows().eval(), (None, dynamic(torch.int8, row))), rows)
    save("rows_dynamic_4bit", torchao(Rows().eval(), (None, dynamic(torch.int4, row))), rows)
    groups = [(f"of_{size}", dynamic(torch.int4, PerGroup(size))) for size in (32, 64, 128, 256)]
    wide = (torch.randn(3, 256),)
    save("groups_dynamic_4bit", torchao(Groups().eval(), *groups), wide)
    for name, dtype, granularity in (("rows_8bit", torch.int8, row), ("rows_4bit", torch.int4, row),
                                     ("groups_2bit", torch.int2, PerGroup(32)),
                                     ("groups_4bit", torch.int4, PerGroup(32))):
        model = torchao(Rows().eval(), (None, weight_only(dtype, granularity)))
        save(name, model, rows, lowers=False)
    model = torchao(Rows().eval(), (None, Float8WeightOnlyConfig()))
    save("rows_float8", model, rows, lowers=False)
    with open(os.path.join(FOLDER, "quanta.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(QUANTA) + "\n")


if __name__ == "__main__":
    main()
