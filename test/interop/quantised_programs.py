# SPDX-License-Identifier: Apache-2.0
"""The quantised programs that quantised.py exchanges with the wheel.

  program = make("residual_channel")
  program.methods["forward"]      # torch.export.ExportedProgram
  program.calls[0].expected       # what eager torch computes of the quantised model

A name is NETWORK_SCHEME. Schemes are those of PT2E (tensor, channel, qat; dynamic, dynamic_tensor)
with the wheel's own quantiser, those of torchao's quantize_, and half, whose expected values are
those of the same weights in floats. Random numbers have the name's own seed.
"""

import copy
import dataclasses
import pathlib
import sys
import zlib
from typing import Callable

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn
from torch.export import ExportedProgram, export
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.quant_api import (
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.utils import unwrap_tensor_subclass

import quantised_networks as nets

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))

from neutral_archive import save  # noqa: E402, F401

Tensors = tuple[torch.Tensor, ...]
STATIC, DYNAMIC, WEIGHTS, HALF = "static", "dynamic", "weights", "half"


@dataclasses.dataclass
class Call:
    method: str
    inputs: Tensors
    expected: list[torch.Tensor]


@dataclasses.dataclass
class Program:
    kind: str
    methods: dict[str, ExportedProgram]
    calls: list[Call]
    border: bool = False  # inputs and outputs are integers


def _outputs(module: Callable, inputs: Tensors) -> list[torch.Tensor]:
    with torch.no_grad():
        made = module(*inputs)
    return [y.contiguous() for y in (made if isinstance(made, tuple) else (made,))]


def _program(kind: str, module: nn.Module, batches: list[Tensors], shapes=None) -> Program:
    with torch.no_grad():
        exported = export(module, batches[0], dynamic_shapes=shapes)
    calls = [Call("forward", inputs, _outputs(module, inputs)) for inputs in batches]
    return Program(kind, {"forward": exported}, calls)


def _batches(*sizes: tuple[int, ...], count: int = 2) -> list[Tensors]:
    return [tuple(torch.randn(size) for size in sizes) for _ in range(count)]


def _tokens(words: int, *sizes: tuple[int, ...]) -> list[Tensors]:
    return [(torch.randint(0, words, size),) for size in sizes]


# Schemes: a network, the sizes of its inputs, or batches of them.


def _pt2e(kind: str, network: nn.Module, batches: list[Tensors], shapes=None, qat: bool = False,
          **config) -> Program:
    quantizer = XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_qat=qat, **config))
    graph = export(network, batches[0], dynamic_shapes=shapes).module()
    prepared = (prepare_qat_pt2e if qat else prepare_pt2e)(graph, quantizer)
    for _ in range(4):
        prepared(*[torch.randn_like(x) if x.is_floating_point() else x for x in batches[0]])
    for inputs in batches:
        prepared(*inputs)
    if qat:
        torch.ao.quantization.move_exported_model_to_eval(prepared)
    return _program(kind, convert_pt2e(prepared), batches, shapes)


def _sized(function, *more, **options):
    """A scheme of a network and the sizes of its inputs."""
    return lambda network, *sizes: function(*more, network().eval(), _batches(*sizes), **options)


static_tensor = _sized(_pt2e, STATIC)
static_channel = _sized(_pt2e, STATIC, is_per_channel=True)
static_qat = _sized(_pt2e, STATIC, is_per_channel=True, qat=True)
dynamic_channel = _sized(_pt2e, DYNAMIC, is_per_channel=True, is_dynamic=True)
dynamic_tensor = _sized(_pt2e, DYNAMIC, is_dynamic=True)


def _torchao(kind: str, network: nn.Module, batches: list[Tensors], linear=None, table=None,
             shapes=None) -> Program:
    for config, module in ((linear, nn.Linear), (table, nn.Embedding)):
        if config is not None:
            quantize_(network, config, lambda m, _, module=module: isinstance(m, module))
    return _program(kind, unwrap_tensor_subclass(network), batches, shapes)


def of_rows(bits: int):
    return Int8DynamicActivationIntxWeightConfig(
        weight_dtype=getattr(torch, f"int{bits}"), weight_granularity=PerAxis(0))


def of_groups(bits: int, size: int):
    return Int8DynamicActivationIntxWeightConfig(
        weight_dtype=getattr(torch, f"int{bits}"), weight_granularity=PerGroup(size))


def only_weights(bits: int, group: int = 0):
    return IntxWeightOnlyConfig(weight_dtype=getattr(torch, f"int{bits}"),
                                granularity=PerGroup(group) if group else PerAxis(0))


def torchao(network, *sizes, linear=None, kind=DYNAMIC, **more) -> Program:
    return _torchao(kind, network().eval(), _batches(*sizes), linear=linear, **more)


def half(network, *sizes) -> Program:
    floats = network().eval()
    batches = [tuple(x.half() for x in inputs) for inputs in _batches(*sizes)]
    module = copy.deepcopy(floats).half()
    floats.load_state_dict(module.state_dict())
    made = _program(HALF, module, batches)
    for call in made.calls:
        call.expected = _outputs(floats, tuple(x.float() for x in call.inputs))
    return made


IMAGE = (1, 3, 17, 13)

PROGRAMS: dict[str, Callable[[], Program]] = {
    "residual_tensor": lambda: static_tensor(nets.Residual, IMAGE),
    "residual_channel": lambda: static_channel(nets.Residual, IMAGE),
    "mobile_channel": lambda: static_channel(nets.Mobile, (2, 3, 16, 20)),
    "unet_channel": lambda: static_channel(nets.UNet, (1, 1, 12, 20)),
    "speech_channel": lambda: static_channel(nets.Speech, (1, 13, 41)),
    "encoder_dynamic": lambda: dynamic_channel(nets.Encoder, (2, 7, 32)),
    "perceptron_8da8w": lambda: torchao(nets.Perceptron, (5, 33), linear=of_rows(8)),
    "encoder_8da4w_32": lambda: torchao(nets.Encoder, (1, 9, 32), linear=of_groups(4, 32)),
    "perceptron_int8": lambda: torchao(nets.Perceptron, (5, 33), linear=only_weights(8),
                                       kind=WEIGHTS),
    "table_4bit": lambda: _torchao(WEIGHTS, nets.Table(), _tokens(40, (1, 7), (1, 7)),
                                   table=only_weights(4, 32)),
    "encoder_half": lambda: half(nets.Encoder, (2, 7, 32)),
}


def make(name: str) -> Program:
    torch.manual_seed(zlib.crc32(name.encode()))
    return PROGRAMS[name]()
