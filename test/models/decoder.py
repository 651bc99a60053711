# SPDX-License-Identifier: Apache-2.0
"""A small language model with a key-value cache: two methods of one state.

`prefill` reads a prompt and fills the cache from its start; `decode` reads one
token and its position. Both return the logits after the last token and the
token that is most likely next, so that the output of one call is an input of
the next:

  logits, token = prefill(prompt)              # i64[1,8]        -> f32[1,V], i64[1,1]
  logits, token = decode(token, position)      # i64[1,1], i64[1] = 8, 9, ...

A position must be below the context; those that were never written count as
cached zeros, so decode works without prefill, on a context that is empty.
"""

import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Size:
    vocabulary: int
    width: int
    heads: int
    layers: int = 2
    context: int = 64
    prompt: int = 8


SMALL = Size(vocabulary=64, width=32, heads=2)
MEDIUM = Size(vocabulary=512, width=256, heads=8)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding: the halves of each head turn by the position."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Attention(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.qkv = nn.Linear(size.width, 3 * size.width, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        shape = (1, size.heads, size.context, size.width // size.heads)
        self.register_buffer("keys", torch.zeros(shape), persistent=False)
        self.register_buffer("values", torch.zeros(shape), persistent=False)

    def forward(self, x, turn, position):
        length = x.shape[1]
        split = self.qkv(x).view(1, length, 3, self.size.heads, -1)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, *turn), rotate(k, *turn)
        if position is None:
            self.keys[:, :, :length] = k
            self.values[:, :, :length] = v
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            self.keys[:, :, position] = k
            self.values[:, :, position] = v
            seen = torch.arange(self.size.context) <= position
            y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen[None])
        return self.out(y.transpose(1, 2).reshape(1, length, self.size.width))


class Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.before_attention = nn.RMSNorm(size.width)
        self.attention = Attention(size)
        self.before_mlp = nn.RMSNorm(size.width)
        self.gate = nn.Linear(size.width, 4 * size.width, bias=False)
        self.up = nn.Linear(size.width, 4 * size.width, bias=False)
        self.down = nn.Linear(4 * size.width, size.width, bias=False)

    def forward(self, x, turn, position):
        x = x + self.attention(self.before_attention(x), turn, position)
        y = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """The head's weight is the embedding's."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        self.head.weight = self.embedding.weight
        rates = 10000.0 ** -torch.arange(0, 1, 2 * size.heads / size.width)
        angles = torch.arange(size.context)[:, None] * rates
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        # Random weights that do not just repeat the last token: little of it
        # in the residual stream, much of what the blocks make of it.
        with torch.no_grad():
            self.embedding.weight *= 0.1
            for block in self.blocks:
                block.attention.qkv.weight *= 3
                block.attention.out.weight *= 3
                block.down.weight *= 6

    def step(self, tokens, turn, position):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, turn, position)
        logits = self.head(self.norm(x[:, -1]))
        return logits, logits.argmax(dim=-1, keepdim=True)


class Prefill(nn.Module):
    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, prompt):
        length = prompt.shape[1]
        turn = self.decoder.cos[:length], self.decoder.sin[:length]
        return self.decoder.step(prompt, turn, None)


class Decode(nn.Module):
    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, token, position):
        turn = self.decoder.cos[position], self.decoder.sin[position]
        return self.decoder.step(token, turn, position)


class Stateless(nn.Module):
    """A method whose cache goes in and comes out, for engines without state."""

    def __init__(self, method: nn.Module) -> None:
        super().__init__()
        self.method = method
        self.names = [n for n, _ in method.named_buffers() if n.endswith(("keys", "values"))]

    def forward(self, inputs: tuple, cache: list[torch.Tensor]):
        state = {n: c.clone() for n, c in zip(self.names, cache, strict=True)}
        results = torch.func.functional_call(self.method, state, inputs)
        return (*results, *state.values())

    def cache(self) -> list[torch.Tensor]:
        """What the method's own cache holds now."""
        buffers = dict(self.method.named_buffers())
        return [buffers[n].clone() for n in self.names]


def make(size: Size) -> tuple[Prefill, Decode, torch.Tensor]:
    """The two methods of one seeded decoder, and a prompt."""
    torch.manual_seed(41)
    decoder = Decoder(size).eval()
    prompt = torch.randint(size.vocabulary, (1, size.prompt))
    return Prefill(decoder), Decode(decoder), prompt


def programs(size: Size) -> dict[str, torch.export.ExportedProgram]:
    prefill, decode, prompt = make(size)
    token, position = torch.zeros(1, 1, dtype=torch.int64), torch.tensor([size.prompt])
    return {
        "prefill": torch.export.export(prefill, (prompt,)),
        "decode": torch.export.export(decode, (token, position)),
    }


@dataclasses.dataclass
class Generation:
    prompt: torch.Tensor
    tokens: torch.Tensor  # i64[1, count]
    logits: torch.Tensor  # f32[count, vocabulary]


def generate(size: Size, count: int) -> Generation:
    """Eager torch's greedy continuation of the prompt."""
    prefill, decode, prompt = make(size)
    with torch.no_grad():
        logits, token = prefill(prompt)
        tokens, all_logits = [token], [logits]
        for i in range(count - 1):
            logits, token = decode(token, torch.tensor([size.prompt + i]))
            tokens.append(token)
            all_logits.append(logits)
    return Generation(prompt, torch.cat(tokens, dim=1), torch.cat(all_logits))
