# SPDX-License-Identifier: Apache-2.0
"""The quantised programs that quantised.py exchanges with the wheel.

  program = static_channel(nets.Residual, (1, 3, 17, 13))
  program.methods["forward"]      # torch.export.ExportedProgram
  program.calls[0].expected       # what eager torch computes of the quantised model

A name is NETWORK_SCHEME; quantised_list.py has all. Schemes are those of PT2E (tensor, channel,
qat; dynamic, dynamic_tensor) with the wheel's own quantiser, those of torchao's quantize_, and
half and bfloat16, whose expected values are those of the same weights in floats.
"""

import copy
import dataclasses
import pathlib
import sys
from typing import Callable

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer_utils import QuantizationConfig
from torch import nn
from torch.export import ExportedProgram, export
from torchao.quantization import MappingType
from torchao.quantization.granularity import PerAxis, PerGroup, PerRow
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.observer import (
    HistogramObserver,
    MovingAverageMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer import QuantizationSpec
from torchao.quantization.quant_api import (
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.utils import unwrap_tensor_subclass

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))

from neutral_archive import save  # noqa: E402, F401

Tensors = tuple[torch.Tensor, ...]
STATIC, DYNAMIC, WEIGHTS, HALF, BFLOAT = "static", "dynamic", "weights", "half", "bfloat16"


@dataclasses.dataclass
class Call:
    method: str
    inputs: Tensors
    expected: list[torch.Tensor]
    floats: list[torch.Tensor]  # of the network that was quantised


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


def _program(kind: str, module: nn.Module, floats: nn.Module, batches: list[Tensors],
             shapes=None, expected: nn.Module | None = None) -> Program:
    with torch.no_grad():
        exported = export(module, batches[0], dynamic_shapes=shapes)
    calls = [Call("forward", inputs, _outputs(expected or module, inputs), _outputs(floats, inputs))
             for inputs in batches]
    return Program(kind, {"forward": exported}, calls)


def _batches(*sizes: tuple[int, ...], count: int = 2) -> list[Tensors]:
    return [tuple(torch.randn(size) for size in sizes) for _ in range(count)]


def tokens(words: int, *sizes: tuple[int, ...]) -> list[Tensors]:
    """A batch of each size."""
    return [(torch.randint(0, words, size),) for size in sizes]


# Schemes: a network, the sizes of its inputs, or batches of them.


def _pt2e(kind: str, network: nn.Module, batches: list[Tensors], shapes=None, qat: bool = False,
          quantizer: XNNPACKQuantizer | None = None, **config) -> Program:
    quantizer = quantizer or XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_qat=qat, **config))
    graph = export(network, batches[0], dynamic_shapes=shapes).module()
    prepared = (prepare_qat_pt2e if qat else prepare_pt2e)(graph, quantizer)
    for _ in range(4):
        prepared(*[torch.randn_like(x) if x.is_floating_point() else x for x in batches[0]])
    for inputs in batches:
        prepared(*inputs)
    if qat:
        move_exported_model_to_eval(prepared)
    return _program(kind, convert_pt2e(prepared), network, batches, shapes)


def _sized(function, *more, **options):
    """A scheme of a network, the sizes of its inputs, and how many of them."""
    return lambda network, *sizes, count=2, **own: function(
        *more, network().eval(), _batches(*sizes, count=count), **options, **own)


def _levels_of(dtype: torch.dtype, scheme: torch.qscheme, low: int, high: int,
               observer) -> XNNPACKQuantizer:
    """Activations so, and weights of int8 by channel."""
    activation = QuantizationSpec(
        dtype=dtype, quant_min=low, quant_max=high, qscheme=scheme, is_dynamic=False,
        observer_or_fake_quant_ctr=observer.with_args(eps=2**-12))
    weight = QuantizationSpec(
        dtype=torch.int8, quant_min=-127, quant_max=127, qscheme=torch.per_channel_symmetric,
        ch_axis=0, is_dynamic=False,
        observer_or_fake_quant_ctr=PerChannelMinMaxObserver.with_args(eps=2**-12))
    return XNNPACKQuantizer().set_global(
        QuantizationConfig(activation, activation, weight, None, False))


def _by_module(**dynamic: bool) -> XNNPACKQuantizer:
    """Modules of torch.nn by name, and whether their inputs are quantised at run time."""
    quantizer = XNNPACKQuantizer()
    for name, at_run_time in dynamic.items():
        quantizer.set_module_type(getattr(nn, name), get_symmetric_quantization_config(
            is_per_channel=True, is_dynamic=at_run_time))
    return quantizer


def unsigned(network, *sizes) -> Program:
    quantizer = _levels_of(torch.uint8, torch.per_tensor_affine, 0, 255, HistogramObserver)
    return _pt2e(STATIC, network().eval(), _batches(*sizes), quantizer=quantizer)


def symmetric(network, *sizes) -> Program:
    quantizer = _levels_of(torch.int8, torch.per_tensor_symmetric, -127, 127,
                           MovingAverageMinMaxObserver)
    return _pt2e(STATIC, network().eval(), _batches(*sizes), quantizer=quantizer)


def only(network, *sizes, kind: str = STATIC, **dynamic: bool) -> Program:
    """With what _by_module() says, all else in floats."""
    return _pt2e(kind, network().eval(), _batches(*sizes), quantizer=_by_module(**dynamic))


static_tensor = _sized(_pt2e, STATIC)
static_channel = _sized(_pt2e, STATIC, is_per_channel=True)
static_qat = _sized(_pt2e, STATIC, is_per_channel=True, qat=True)
dynamic_channel = _sized(_pt2e, DYNAMIC, is_per_channel=True, is_dynamic=True)
dynamic_tensor = _sized(_pt2e, DYNAMIC, is_dynamic=True)


def _torchao(kind: str, network: nn.Module, batches: list[Tensors], linear=None, table=None,
             shapes=None) -> Program:
    floats = copy.deepcopy(network)
    for config, module in ((linear, nn.Linear), (table, nn.Embedding)):
        if config is not None:
            quantize_(network, config, lambda m, _, module=module: isinstance(m, module))
    return _program(kind, unwrap_tensor_subclass(network), floats, batches, shapes)


def of_rows(bits: int, mapping=MappingType.SYMMETRIC):
    return Int8DynamicActivationIntxWeightConfig(
        weight_dtype=getattr(torch, f"int{bits}"), weight_granularity=PerAxis(0),
        weight_mapping_type=mapping)


def of_integers(mapping=MappingType.SYMMETRIC, granularity=PerRow()):
    """Weights of 8 bits in rows, and products by an operator of integers."""
    return Int8DynamicActivationInt8WeightConfig(act_mapping_type=mapping, granularity=granularity)


def of_groups(bits: int, size: int, mapping=MappingType.SYMMETRIC):
    return Int8DynamicActivationIntxWeightConfig(
        weight_dtype=getattr(torch, f"int{bits}"), weight_granularity=PerGroup(size),
        weight_mapping_type=mapping)


def only_weights(bits: int, group: int = 0):
    return IntxWeightOnlyConfig(weight_dtype=getattr(torch, f"int{bits}"),
                                granularity=PerGroup(group) if group else PerAxis(0))


def torchao(network, *sizes, linear=None, kind=DYNAMIC, **more) -> Program:
    return _torchao(kind, network().eval(), _batches(*sizes), linear=linear, **more)


def of_tokens(network, *sizes, linear=None, table=None, shapes=None) -> Program:
    """A network of tokens, up to 40 of them; sizes are those of batches."""
    kind = DYNAMIC if isinstance(linear, Int8DynamicActivationIntxWeightConfig) else WEIGHTS
    return _torchao(kind, network().eval(), tokens(40, *sizes), linear, table, shapes)


def half(network, *sizes, batches: list[Tensors] | None = None) -> Program:
    module, floats, batches = _in_half(network, batches or _batches(*sizes))
    made = _beside(_program(HALF, module, module, batches), floats)
    for call in made.calls:
        call.expected = call.floats
    return made


class Bfloat16(nn.Module):
    """A network in bfloat16 between casts: NumPy has no bfloat16."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network.bfloat16()

    def forward(self, *inputs):
        made = self.network(*(x.bfloat16() if x.is_floating_point() else x for x in inputs))
        return tuple(y.float() for y in made) if isinstance(made, tuple) else made.float()


def bfloat16(network, *sizes, batches: list[Tensors] | None = None) -> Program:
    floats = network().eval()
    module = Bfloat16(copy.deepcopy(floats))
    floats.load_state_dict(module.network.state_dict())
    return _program(BFLOAT, module, floats, batches or _batches(*sizes), expected=floats)


def _beside(made: Program, floats: nn.Module) -> Program:
    """The same program, with what the network in floats gives beside it."""
    for call in made.calls:
        call.floats = _outputs(
            floats, tuple(x.float() if x.is_floating_point() else x for x in call.inputs))
    return made


def bfloat16_levels(network, batches: list[Tensors], linear, table=None) -> Program:
    """A network in bfloat16 that torchao quantised, as decoders mostly are."""
    floats = network().eval()
    module = Bfloat16(copy.deepcopy(floats))
    floats.load_state_dict(module.network.state_dict())
    return _beside(_torchao(DYNAMIC, module, batches, linear, table), floats)


def _in_half(network, batches: list[Tensors]) -> tuple[nn.Module, nn.Module, list[Tensors]]:
    """In half and in floats, with the same weights."""
    floats = network().eval()
    module = copy.deepcopy(floats).half()
    floats.load_state_dict(module.state_dict())
    return module, floats, [tuple(x.half() if x.is_floating_point() else x for x in inputs)
                            for inputs in batches]


def half_levels(network, *sizes, batches: list[Tensors] | None = None, linear=None,
                table=None) -> Program:
    """A network in half that torchao quantised."""
    module, floats, batches = _in_half(network, batches or _batches(*sizes))
    return _beside(_torchao(DYNAMIC, module, batches, linear, table), floats)


def half_dynamic(network, *sizes) -> Program:
    """A network in half that PT2E quantised, scales of inputs at run time."""
    module, floats, batches = _in_half(network, _batches(*sizes))
    return _beside(_pt2e(DYNAMIC, module, batches, is_per_channel=True, is_dynamic=True), floats)


# Programs made of others.


def methods(**programs: Program) -> Program:
    """Each program's forward as a method; called in turn."""
    kinds = {p.kind for p in programs.values()}
    calls = [dataclasses.replace(call, method=name)
             for turn in zip(*(p.calls for p in programs.values()))
             for name, call in zip(programs, turn)]
    return Program(kinds.pop(), {n: p.methods["forward"] for n, p in programs.items()}, calls)


def _levels(x: torch.Tensor, step: tuple) -> torch.Tensor:
    return torch.ops.quantized_decomposed.quantize_per_tensor(x, *step)


def border(program: Program) -> Program:
    """The same program, whose inputs and outputs are to be integers."""
    graph = program.methods["forward"].graph
    users = [node.args for node in graph.nodes if node.op == "call_function"
             and "quantize_per_tensor" in str(node.target)]
    placeholders = [n for n in graph.nodes if n.op == "placeholder" and n.name in
                    program.methods["forward"].graph_signature.user_inputs]
    of_inputs = [next(a[1:] for a in users if a[0] is p) for p in placeholders]
    of_outputs = [node.args[1:6] for node in graph.output_node().args[0]]
    for call in program.calls:
        call.inputs = tuple(_levels(x, s) for x, s in zip(call.inputs, of_inputs, strict=True))
        call.expected = [_levels(y, s) for y, s in zip(call.expected, of_outputs, strict=True)]
        call.floats = [y / s[0] + s[1] for y, s in zip(call.floats, of_outputs, strict=True)]
    program.border = True
    return program
