# SPDX-License-Identifier: Apache-2.0
"""Writes a decoder of decoder4_model.py as a GGUF file, for llama.cpp.

  write(decoder, path)

Linear layers and the embedding become Q4_0: blocks of 32 weights, a scale in half and levels of
0 to 15 that stand for -8 to 7. These are the levels and scales of the archive, bit for bit;
norms are floats. Rows of the projections of queries and keys go in pairs, as llama.cpp turns
neighbours by a position and the archive turns halves. There is no tokenizer.
"""

import pathlib

import gguf
import numpy as np
import torch

from decoder4_model import GROUP, Decoder4

Q4_0 = gguf.GGMLQuantizationType.Q4_0
NAMES = {
    "embedding": "token_embd", "norm": "output_norm", "head": "output",
    "before_attention": "attn_norm", "before_mlp": "ffn_norm", "attention.q": "attn_q",
    "attention.k": "attn_k", "attention.v": "attn_v", "attention.out": "attn_output",
    "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
}


def _name(name: str) -> str:
    if not name.startswith("blocks."):
        return NAMES[name] + ".weight"
    _, number, part = name.split(".", 2)
    return f"blk.{number}.{NAMES[part]}.weight"


def _in_pairs(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Row i of the first half of a head, then row i of its second half."""
    shape = rows.shape
    return rows.view(heads, 2, shape[0] // heads // 2, -1).transpose(1, 2).reshape(shape)


def _blocks(levels: torch.Tensor, scales: torch.Tensor) -> np.ndarray:
    """Of 32 elements: scale, then bytes of which each has element i below and i + 16 above."""
    rows = levels.shape[0]
    unsigned = (levels.view(-1, GROUP).numpy().astype(np.int16) + 8).astype(np.uint8)
    packed = np.empty((len(unsigned), 2 + GROUP // 2), np.uint8)
    packed[:, :2] = scales.to(torch.float16).reshape(-1, 1).numpy().view(np.uint8)
    packed[:, 2:] = unsigned[:, :GROUP // 2] | unsigned[:, GROUP // 2:] << 4
    packed = packed.reshape(rows, -1)
    stands_for = (levels.view(rows, -1, GROUP) * scales.view(rows, -1, 1)).view(rows, -1)
    if not np.array_equal(gguf.dequantize(packed, Q4_0), stands_for.numpy()):
        raise ValueError("Q4_0 does not hold these weights: a scale is no number of half precision")
    return packed


def write(decoder: Decoder4, path: pathlib.Path) -> None:
    size = decoder.size
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(size.vocabulary)
    writer.add_context_length(size.context)
    writer.add_embedding_length(size.width)
    writer.add_block_count(size.layers)
    writer.add_feed_forward_length(size.hidden)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.groups)
    writer.add_rope_dimension_count(size.head)
    writer.add_rope_freq_base(size.rope_base)
    writer.add_layer_norm_rms_eps(size.epsilon)
    heads = {"q": size.heads, "k": size.groups}
    for name, (levels, scales) in decoder.levels.items():
        part = name.rsplit(".", 1)[-1]
        if part in heads:
            levels, scales = (_in_pairs(x, heads[part]) for x in (levels, scales))
        writer.add_tensor(_name(name), _blocks(levels, scales), raw_dtype=Q4_0)
    for name, weight in decoder.norms.items():
        writer.add_tensor(_name(name), weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
