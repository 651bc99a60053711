# SPDX-License-Identifier: Apache-2.0
"""Writes a decoder of decoder4_model.py as a GGUF file, for llama.cpp.

  gguf.write(decoder, path)

Linear layers and the embedding become Q4_0: blocks of 32 weights, a scale in half and levels of
0 to 15 that stand for -8 to 7. These are the levels and scales of the archive, bit for bit;
norms are floats. Rows of the projections of queries and keys go in pairs, as llama.cpp turns
neighbours by a position and the archive turns halves. There is no tokenizer.
"""

import pathlib
import struct

import numpy as np
import torch

from decoder4_model import GROUP, Decoder4

ALIGNMENT = 32
F32, Q4_0 = 0, 2
NAMES = {
    "embedding": "token_embd", "norm": "output_norm", "head": "output",
    "before_attention": "attn_norm", "before_mlp": "ffn_norm", "attention.q": "attn_q",
    "attention.k": "attn_k", "attention.v": "attn_v", "attention.out": "attn_output",
    "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _entry(key: str, value: int | float | str) -> bytes:
    kind, word = {int: (4, "<I"), float: (6, "<f"), str: (8, "")}[type(value)]
    packed = _string(value) if isinstance(value, str) else struct.pack(word, value)
    return _string(key) + struct.pack("<I", kind) + packed


def _name(name: str) -> str:
    if not name.startswith("blocks."):
        return NAMES[name] + ".weight"
    _, number, part = name.split(".", 2)
    return f"blk.{number}.{NAMES[part]}.weight"


def _in_pairs(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Row i of the first half of a head, then row i of its second half."""
    shape = rows.shape
    return rows.view(heads, 2, shape[0] // heads // 2, -1).transpose(1, 2).reshape(shape)


def _blocks(levels: torch.Tensor, scales: torch.Tensor) -> bytes:
    """Of 32 elements: scale, then bytes of which each has element i below and i + 16 above."""
    halves = scales.to(torch.float16)
    if not torch.equal(halves.to(scales.dtype), scales):
        raise ValueError("a scale is not a number of half precision")
    unsigned = (levels.view(-1, GROUP).numpy().astype(np.int16) + 8).astype(np.uint8)
    packed = np.empty((len(unsigned), 2 + GROUP // 2), np.uint8)
    packed[:, :2] = halves.reshape(-1, 1).numpy().view(np.uint8)
    packed[:, 2:] = unsigned[:, :GROUP // 2] | unsigned[:, GROUP // 2:] << 4
    return packed.tobytes()


def write(decoder: Decoder4, path: pathlib.Path) -> None:
    size = decoder.size
    entries = [_entry("general.architecture", "llama"), _entry("general.alignment", ALIGNMENT),
               _entry("general.file_type", 2), _entry("tokenizer.ggml.model", "no_vocab")]
    entries += [_entry(f"llama.{key}", value) for key, value in {
        "vocab_size": size.vocabulary, "context_length": size.context,
        "embedding_length": size.width, "block_count": size.layers,
        "feed_forward_length": size.hidden, "attention.head_count": size.heads,
        "attention.head_count_kv": size.groups, "rope.dimension_count": size.head,
        "rope.freq_base": size.rope_base, "attention.layer_norm_rms_epsilon": size.epsilon,
    }.items()]
    heads = {"q": size.heads, "k": size.groups}
    tensors = []
    for name, (levels, scales) in decoder.levels.items():
        part = name.rsplit(".", 1)[-1]
        if part in heads:
            levels, scales = (_in_pairs(x, heads[part]) for x in (levels, scales))
        tensors.append((_name(name), levels.shape, Q4_0, _blocks(levels, scales)))
    for name, weight in decoder.norms.items():
        tensors.append((_name(name), weight.shape, F32, weight.numpy().tobytes()))
    header = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries)), *entries]
    offset = 0
    for name, shape, kind, data in tensors:
        dims = struct.pack(f"<{len(shape)}Q", *reversed(shape))  # the innermost first
        header.append(_string(name) + struct.pack("<I", len(shape)) + dims +
                      struct.pack("<IQ", kind, offset))
        offset += -len(data) % ALIGNMENT + len(data)
    with path.open("wb") as file:
        file.write(b"".join(header))
        for *_, data in tensors:
            file.write(bytes(-file.tell() % ALIGNMENT))
            file.write(data)
