# SPDX-License-Identifier: Apache-2.0
"""Layers with low-rank adapters, and what an adapter makes of them.

  base, lora = network(size, rank=0), network(size, rank=8)    equal base weights
  one = adapter(size, 8, number=1)                             {name: weight}
  merged(base, one)(x)  ==  adapted(lora, one)(x)
"""

import copy
import dataclasses

import torch


@dataclasses.dataclass(frozen=True)
class Size:
    layers: int
    width: int

    def noise(self, *sizes: int) -> torch.Tensor:
        return torch.randn(sizes) / self.width**0.5


class Layer(torch.nn.Module):
    """A linear layer and, where it has one, what an adapter adds to it."""

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.base = torch.nn.Linear(width, width)
        self.adapted = rank > 0
        if self.adapted:
            self.lora_a = torch.nn.Linear(width, rank, bias=False)
            self.lora_b = torch.nn.Linear(rank, width, bias=False)

    def forward(self, x):
        y = self.base(x)
        return x + torch.tanh(y + self.lora_b(self.lora_a(x)) if self.adapted else y)


def network(size: Size, rank: int) -> torch.nn.Module:
    """Equal base weights for every rank of adapters, which are zeros; 0 is none."""
    model = torch.nn.Sequential(*[Layer(size.width, rank) for _ in range(size.layers)]).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for layer in model:
            layer.base.weight.copy_(size.noise(size.width, size.width))
            layer.base.bias.copy_(size.noise(size.width))
            if rank:
                layer.lora_a.weight.zero_()
                layer.lora_b.weight.zero_()
    return model


def adapter(size: Size, rank: int, number: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(number)
    sizes = {"lora_a": (rank, size.width), "lora_b": (size.width, rank)}
    return {f"{layer}.{name}.weight": size.noise(*shape)
            for layer in range(size.layers) for name, shape in sizes.items()}


def merged(base: torch.nn.Module, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    """The base with the products of an adapter in its weights."""
    model = copy.deepcopy(base)
    with torch.no_grad():
        for i, layer in enumerate(model):
            layer.base.weight += weights[f"{i}.lora_b.weight"] @ weights[f"{i}.lora_a.weight"]
    return model


def adapted(model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> torch.nn.Module:
    """A model with these weights of its adapters."""
    unknown = model.load_state_dict(weights, strict=False).unexpected_keys
    if unknown:
        raise ValueError(f"the model has no {unknown}")
    return model


def quantised(model: torch.nn.Module, inputs: tuple) -> torch.nn.Module:
    """The products of the base in int8, beside adapters in floats."""
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = xnnpack_quantizer.XNNPACKQuantizer()
    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True)
    for i in range(len(model)):
        quantizer.set_module_name(f"{i}.base", config)
    prepared = prepare_pt2e(torch.export.export(model, inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)
