# SPDX-License-Identifier: Apache-2.0
"""The decoder that decoder4.py times: Llama's layers with weights of 4 bits.

  decoder = make(SIZES["151m"])
  decoder.model(tokens, position)     # eager, activations in int8 as torchao quantises them
  decoder.floats                      # the same numbers as weights, activations in floats
  export(decoder, prompt=128)         # torch.export.ExportedProgram of both, one method

Weights are random, of a fixed seed. Linear layers and the embedding have 4 bits in groups of 32
with a scale each, symmetric levels of -8 to 7. Scales are numbers of bfloat16 that half
holds, too, so that XNNPACK (bfloat16) and GGUF's Q4_0 (half) compute with the same weights.
Caches and attention are those of ExecuTorch's LLM library: update_cache and custom_sdpa. One
method takes a prompt at once or one token; a position comes in, logits of the last token go out.
"""

import copy
import dataclasses

import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from torch import nn
from torch.nn import functional as F
from torchao.quantization.granularity import PerGroup
from torchao.quantization.quant_api import (
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.utils import unwrap_tensor_subclass

GROUP = 32


@dataclasses.dataclass(frozen=True)
class Size:
    vocabulary: int
    width: int
    hidden: int
    heads: int
    groups: int  # heads of keys and values
    layers: int
    context: int = 512
    rope_base: float = 10000.0
    epsilon: float = 1e-5

    @property
    def head(self) -> int:
        return self.width // self.heads


SIZES = {
    "151m": Size(vocabulary=8192, width=1024, hidden=2816, heads=16, groups=4, layers=12),
    "tiny": Size(vocabulary=256, width=128, hidden=352, heads=4, groups=2, layers=2),
}


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Halves of each head turn by the position; x is [1, rows, heads, elements]."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Norm(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(size.width))
        self.epsilon = size.epsilon

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, self.epsilon)


class Attention(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        narrow = size.groups * size.head
        self.q = nn.Linear(size.width, size.width, bias=False)
        self.k = nn.Linear(size.width, narrow, bias=False)
        self.v = nn.Linear(size.width, narrow, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, size.context, size.groups, size.head))

    def forward(self, x, turn, position: int):
        size, rows = self.size, x.shape[1]
        q = rotate(self.q(x).view(1, rows, size.heads, size.head), *turn)
        k = rotate(self.k(x).view(1, rows, size.groups, size.head), *turn)
        v = self.v(x).view(1, rows, size.groups, size.head)
        torch.ops.llama.update_cache(k, self.keys, position)
        torch.ops.llama.update_cache(v, self.values, position)
        y = torch.ops.llama.custom_sdpa(q, self.keys, self.values, position, None, 0.0, True)
        return self.out(y.view(1, rows, size.width))


class Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = Norm(size), Norm(size)
        self.attention = Attention(size)
        self.gate = nn.Linear(size.width, size.hidden, bias=False)
        self.up = nn.Linear(size.width, size.hidden, bias=False)
        self.down = nn.Linear(size.hidden, size.width, bias=False)

    def forward(self, x, turn, position: int):
        x = x + self.attention(self.before_attention(x), turn, position)
        y = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = Norm(size)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        rates = size.rope_base ** -torch.arange(0, 1, 2 / size.head)
        angles = torch.arange(size.context)[:, None] * rates
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens, position):
        rows, start = tokens.shape[1], position[0].item()
        torch._check(start >= 0)
        torch._check(start + rows <= self.size.context)
        turn = [table.narrow(0, start, rows)[:, None] for table in (self.cos, self.sin)]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, turn, start)
        return self.head(self.norm(x[:, -1:]))[:, 0]


def _even_scales(model: nn.Module) -> None:
    """Scales that bfloat16 holds; levels stay, so weights are what these scales make of them."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            scale = module.weight.scale
            scale.copy_(scale.to(torch.bfloat16).to(scale.dtype))


@dataclasses.dataclass
class Decoder4:
    size: Size
    model: nn.Module  # as torchao quantised it
    floats: nn.Module  # of the weights that the levels stand for
    levels: dict[str, tuple[torch.Tensor, torch.Tensor]]  # int8 [rows, columns], scales by group
    norms: dict[str, torch.Tensor]


def make(size: Size) -> Decoder4:
    torch.manual_seed(17)
    floats = Decoder(size).eval().requires_grad_(False)
    for name, module in floats.named_modules():
        if isinstance(module, nn.Linear):
            # The stream must not grow by what each of many layers adds.
            small = name.endswith(("out", "down"))
            nn.init.normal_(module.weight, std=module.in_features ** -0.5 *
                            ((2 * size.layers) ** -0.5 if small else 1.0))
    model = copy.deepcopy(floats)
    quantize_(model, Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(GROUP)),
        lambda m, _: isinstance(m, nn.Linear))
    quantize_(model, IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(GROUP)),
              lambda m, _: isinstance(m, nn.Embedding))
    _even_scales(model)
    levels = {}
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            weight = module.weight
            assert not weight.zero_point.any(), name
            levels[name] = (weight.qdata, weight.scale)
            floats.get_submodule(name).weight.copy_(
                (weight.qdata.view(*weight.scale.shape, GROUP) * weight.scale[..., None])
                .view(weight.qdata.shape))
    norms = {n: m.weight for n, m in floats.named_modules() if isinstance(m, Norm)}
    return Decoder4(size, unwrap_tensor_subclass(model), floats, levels, norms)


def forget(model: nn.Module) -> None:
    """Empties the caches."""
    for module in model.modules():
        if isinstance(module, Attention):
            module.keys.zero_()
            module.values.zero_()


def export(decoder: Decoder4, prompt: int) -> torch.export.ExportedProgram:
    tokens = torch.zeros(1, prompt, dtype=torch.int64)
    shapes = ({1: torch.export.Dim("rows", min=1, max=decoder.size.context // 2)}, None)
    with torch.no_grad():
        return torch.export.export(copy.deepcopy(decoder.model),
                                   (tokens, torch.tensor([0])), dynamic_shapes=shapes,
                                   strict=False)
