# SPDX-License-Identifier: Apache-2.0
"""Decoders with the operators of ExecuTorch's LLM library, made by the wheel's own transformations.

  decoder = make("quantised_cache")
  decoder.export()                 # torch.export.ExportedProgram; caches are its state
  decoder.calls[0].inputs          # tokens, position; calls follow one another
  decoder.calls[0].expected        # what eager torch computes, with caches of its own

Weights are random, from a seed of the name.
"""

import copy
import dataclasses
import zlib
from typing import Callable

import torch
from executorch.examples.models.llama.llama_transformer import construct_transformer
from executorch.examples.models.llama.model_args import ModelArgs
from executorch.examples.models.llama.source_transformation.custom_kv_cache import (
    replace_kv_cache_with_custom_kv_cache,
    replace_kv_cache_with_quantized_kv_cache,
    replace_kv_cache_with_ring_kv_cache,
)
from executorch.examples.models.llama.source_transformation.sdpa import (
    replace_sdpa_with_custom_op,
    replace_sdpa_with_quantized_sdpa,
)
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from torch import nn
from torch.export import Dim, ExportedProgram, export
from torchao.quantization.quant_api import quantize_
from torchao.utils import unwrap_tensor_subclass

from quantised_programs import of_groups, only_weights

WORDS, CONTEXT = 50, 32
STEPS = (7, 1, 1, 3)  # tokens of each call


@dataclasses.dataclass
class Call:
    inputs: tuple[torch.Tensor, ...]
    expected: torch.Tensor


@dataclasses.dataclass
class Decoder:
    model: nn.Module  # with caches that are empty
    calls: list[Call]

    def export(self) -> ExportedProgram:
        """Anew each time: lowering changes what it is given."""
        first = (self.calls[0].inputs[0], {"input_pos": self.calls[0].inputs[1]})
        shapes = ({1: Dim("length", max=CONTEXT - 1)}, {"input_pos": {0: 1}})
        with torch.no_grad():
            return export(copy.deepcopy(self.model), first, dynamic_shapes=shapes, strict=False)


def _transformer(**more) -> nn.Module:
    made = construct_transformer(ModelArgs(
        dim=64, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=WORDS, hidden_dim=96,
        max_seq_len=CONTEXT, max_context_len=CONTEXT, use_kv_cache=True,
        use_sdpa_with_kv_cache_op=True, enable_dynamic_shape=True, generate_full_logits=True,
        **more)).eval()
    for parameter in made.parameters():
        parameter.requires_grad_(False)
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.1)
    return made


def _float_cache() -> nn.Module:
    return replace_sdpa_with_custom_op(replace_kv_cache_with_custom_kv_cache(_transformer()))


def _quantised_cache() -> nn.Module:
    return replace_sdpa_with_custom_op(replace_kv_cache_with_quantized_kv_cache(
        replace_kv_cache_with_custom_kv_cache(_transformer())))


def _quantised_attention() -> nn.Module:
    return replace_sdpa_with_quantized_sdpa(_quantised_cache())


def _ring_cache() -> nn.Module:
    """Caches of a window, whose rows are written over; masks are computed."""
    made = replace_kv_cache_with_ring_kv_cache(_transformer(), [CONTEXT // 2])
    return replace_sdpa_with_custom_op(
        replace_kv_cache_with_custom_kv_cache(made), use_attention_mask=True)


def _weights_of_4_bits() -> nn.Module:
    made = _quantised_cache()
    quantize_(made, of_groups(4, 32), lambda m, _: isinstance(m, nn.Linear))
    quantize_(made, only_weights(4, 32), lambda m, _: isinstance(m, nn.Embedding))
    return unwrap_tensor_subclass(made)


class Rotated(nn.Module):
    """A layer whose inputs a Hadamard matrix turns, as SpinQuant's."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(torch.ops.llama.fast_hadamard_transform(x.contiguous()))


def _rotated() -> nn.Module:
    made = replace_sdpa_with_custom_op(replace_kv_cache_with_custom_kv_cache(_transformer()))
    for block in made.layers:
        block.feed_forward.w1 = Rotated(block.feed_forward.w1)
    return made


class OneOperator(nn.Module):
    """Attention that writes its caches itself: sdpa_with_kv_cache."""

    def __init__(self, width: int = 64, heads: int = 4, groups: int = 2) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.table = nn.Embedding(WORDS, width)
        self.query = nn.Linear(width, width)
        self.key, self.value = (nn.Linear(width, groups * self.size) for _ in range(2))
        self.head = nn.Linear(width, WORDS)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, CONTEXT, groups, self.size))
        self.requires_grad_(False)

    def forward(self, tokens, attn_options):
        position = attn_options["input_pos"][0].item()
        torch._check(position >= 0)
        torch._check(position < CONTEXT)
        x = self.table(tokens)
        n, count, width = x.shape
        q = self.query(x).view(n, count, self.heads, self.size)
        k, v = (p(x).view(n, count, self.groups, self.size) for p in (self.key, self.value))
        y = torch.ops.llama.sdpa_with_kv_cache(q, k, v, self.keys, self.values, position, count,
                                               None, 0.0, True)
        return self.head(x + y.reshape(n, count, width))


MODELS: dict[str, Callable[[], nn.Module]] = {
    "float_cache": _float_cache,
    "quantised_cache": _quantised_cache,
    "quantised_attention": _quantised_attention,
    "ring_cache": _ring_cache,
    "weights_of_4_bits": _weights_of_4_bits,
    "rotated": _rotated,
    "one_operator": OneOperator,
}


def make(name: str) -> Decoder:
    torch.manual_seed(zlib.crc32(name.encode()))
    model = MODELS[name]()
    empty = copy.deepcopy(model)
    with torch.no_grad():
        calls, position = [], 0
        for count in STEPS:
            tokens = torch.randint(0, WORDS, (1, count))
            at = torch.tensor([position])
            calls.append(Call((tokens, at), model(tokens, {"input_pos": at})))
            position += count
    return Decoder(empty, calls)
