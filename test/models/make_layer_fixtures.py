#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes layers/: layers of torch.nn and what people write beside them.

One archive each, as torch 2.13 exports it, with its inputs and eager torch's
outputs: layers/NAME.pt2, NAME.input_I.npy, NAME.output_I.npy. What a layer leaves
in an input comes before its outputs. NAME_functional is an archive without
in-place operators.
"""

import pathlib
from typing import Any, Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "layers"
rand = torch.randn


class Call(nn.Module):
    """A function, or a module, whose results are a flat tuple of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        leaves = torch.utils._pytree.tree_leaves(self.function(*args))
        return tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def cases() -> dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]]:
    image, signal, volume = rand(1, 4, 7, 8), rand(2, 4, 9), rand(1, 2, 3, 5, 4)
    rows, tokens = rand(2, 5, 12), torch.tensor([[1, 2, 0], [4, 3, 3]])
    attend = F.scaled_dot_product_attention
    heads = rand(1, 4, 5, 6)
    causal = torch.triu(torch.full((5, 5), float("-inf")), 1)
    attention = nn.MultiheadAttention(12, 3, batch_first=True)
    inf = float("inf")
    signs = torch.tensor([[1.0, -2, 3, 4], [-1, 5, 6, 7], [2, 8, -9, 10]])
    wide = torch.tensor([[2**53, 2**53 + 1, 2**53 - 1, 5], [2**62 + 1, 2**62 + 3, 7, -2**62 - 1]])
    return {
        "activations": (lambda x: [getattr(nn, n)()(x) for n in (
            "ReLU6 ELU CELU SELU GELU SiLU Mish LogSigmoid Softplus Softsign Softshrink Hardshrink "
            "Hardsigmoid Hardswish Tanhshrink LeakyReLU").split()], (rand(3, 5) * 3,)),
        "gated": (nn.Sequential(nn.Conv1d(4, 8, 3), nn.GLU(1)), (signal,)),
        "conv_circular": (nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"), (image,)),
        "conv_same": (nn.Conv2d(4, 3, 4, padding="same", dilation=2), (image,)),
        "conv_transposed": (nn.ConvTranspose2d(4, 4, 3, 2, 1, 1, groups=2), (image,)),
        "conv3d": (nn.Sequential(nn.Conv3d(2, 3, 3, 2, 1), nn.BatchNorm3d(3), nn.ReLU()), (volume,)),
        "pools": (lambda x: (
            F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.lp_pool2d(x, 2, 2),
            F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.adaptive_avg_pool2d(x, (3, 5)),
            F.adaptive_max_pool2d(x, (3, 5), return_indices=True),
            F.max_pool2d(x, 2, return_indices=True)), (image,)),
        "pools3d": (lambda x: (F.max_pool3d(x, 2), F.avg_pool3d(x, 2, 1, 1),
                               F.adaptive_avg_pool3d(x, 2)), (volume,)),
        "response_norm": (nn.LocalResponseNorm(3), (image,)),
        "norms": (nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True),
                                nn.LayerNorm([7, 8]), nn.RMSNorm(8)), (image,)),
        "bilinear": (nn.Bilinear(12, 12, 3), (rows, rows + 1)),
        "embedding": (nn.Embedding(6, 5, padding_idx=2), (tokens,)),
        "similarity": (lambda a, b: (F.cosine_similarity(a, b, 1), F.pairwise_distance(a, b),
                                     torch.cdist(a, b)), (rows, rows.flip(0))),
        "unfold": (lambda x: F.fold(F.unfold(x, 3, padding=1), (7, 8), 3, padding=1), (image,)),
        "pixels": (lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[..., :6, :], 2),
                              F.channel_shuffle(x, 2)), (image,)),
        "resize": (lambda x: (
            F.interpolate(x, scale_factor=2.0, mode="bicubic"), F.interpolate(x, (3, 9), mode="area"),
            F.interpolate(x, (3, 9), mode="nearest-exact"), F.interpolate(x, scale_factor=1.5),
            F.interpolate(x, (5, 5), mode="bilinear", antialias=True)), (image,)),
        "lstm": (nn.LSTM(12, 6, 2, batch_first=True, bidirectional=True), (rows,)),
        "lstm_unbatched": (nn.LSTM(12, 6, proj_size=3), (rows[0],)),
        "gru": (nn.GRU(12, 6, batch_first=True), (rows,)),
        "rnn": (nn.RNN(12, 6, nonlinearity="relu", bias=False), (rows,)),
        "cells": (Cells(), (rows[0],)),
        "attention": (lambda x: attention(x, x, x, attn_mask=causal), (rows,)),
        "attention_arguments": (lambda q, m, f: (
            attend(q, q, q, is_causal=True, scale=0.3), attend(q, q[:, :2], q[:, :2], enable_gqa=True),
            attend(q, q, q, attn_mask=m), attend(q, q, q, attn_mask=f), attend(q[0], q[0], q[0])),
            (heads, torch.rand(5, 5) > 0.4, rand(1, 1, 5, 5))),
        "encoder": (nn.TransformerEncoderLayer(12, 3, 16, norm_first=True, activation="gelu"), (rows,)),
        "decoder": (nn.TransformerDecoderLayer(12, 3, 16, batch_first=True), (rows, rows[:, :3])),
        "weight_norm": (nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 3, 3)), (signal,)),
        "statistics": (lambda x: (torch.std_mean(x, 1), torch.var_mean(x), x.logsumexp(1),
                                  torch.count_nonzero(x > 0), x.cumprod(1), x.cummax(2),
                                  x.median(1)[0], x.nansum()), (rows,)),
        "order": (lambda x: (x.sort(1), x.argsort(-1, descending=True), torch.topk(x, 2, 1),
                             torch.kthvalue(x, 2, 2), torch.msort(x)), (rows,)),
        "choices": (lambda x, i: (
            F.one_hot(i, 5), x.masked_fill(x > 0, -1.0), torch.where(x > 0, x, 0.0),
            x.scatter_reduce(1, i[:, :, None].expand(2, 3, 12), x[:, :3], "mean"),
            torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), x.masked_scatter(x > 0, x * 2),
            x.repeat_interleave(2, 1), x.roll((1, -2), (0, 2)), x.flip(1).tril()), (rows, tokens)),
        "writes": (Writes(), (rows, tokens[0])),
        "input_writes": (InputWrites(), (rows, tokens[0], rows[:, :3].clone())),
        "input_writes_functional": (InputWrites(), (rows, tokens[0], rows[:, :3].clone())),
        "mask_rows": (MaskRows(), (signs, torch.arange(4.0), torch.arange(8.0).view(2, 4))),
        "wide_integers": (WideIntegers(), (wide,)),
        "copies_functional": (copies, (signs, torch.arange(8).view(2, 4))),
        "root": (lambda x: (x.abs().sqrt(),), (signs,)),
        "infinities": (lambda x: (x == inf, x > -inf, torch.nan_to_num(x), x * -inf, x + inf),
                       (torch.tensor([inf, -inf, 1.0, -2.0, 0.5]),)),
        "branches": (Branches(), (image,)),
    }


def copies(x, y):
    z = x.clone()
    z[:2].copy_(y)
    return (z,)


class MaskRows(nn.Module):
    """Rows behind a mask: one for all of them, one for each, and sums."""

    def forward(self, x, row, rows):
        y, z, w = x.clone(), x.clone(), x.clone()
        y[x[:, 0] > 0] = row
        z[x[:, 0] > 0] = rows
        w[:, x[0] > 0] = row[:3, None]
        sums = torch.index_put(x, (x[:, 0] > 0,), rows[:1], accumulate=True)
        return y, z, w, sums + 1


class WideIntegers(nn.Module):
    """Integers beside each other that are one double."""

    def forward(self, x):
        return (*x.max(1), *x.min(1), x.amax(0), x.amin(1), x.max(), x.min(), x.argmax(1),
                *x.sort(1), *x.topk(2, largest=False), x + (2**53 + 1))


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(12, 4), nn.GRUCell(12, 4), nn.RNNCell(12, 4)

    def forward(self, x):
        return self.lstm(x), self.gru(x), self.rnn(x)


def settled(channels: int) -> nn.BatchNorm2d:
    """With statistics and factors of a trained one."""
    norm = nn.BatchNorm2d(channels)
    for values in (norm.running_var, norm.weight.data):
        nn.init.uniform_(values, 0.5, 1.5)
    for values in (norm.running_mean, norm.bias.data):
        nn.init.normal_(values, 0, 0.5)
    return norm


class Branches(nn.Module):
    """Sums of what one input becomes, as networks have them that are merged after training."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), settled(4))
        self.narrow = nn.Sequential(nn.Conv2d(4, 4, 1, bias=False), settled(4))
        self.same, self.behind = settled(4), settled(4)
        self.deep = nn.ModuleList(nn.Conv2d(4, 4, k, padding=k // 2, groups=4) for k in (5, 3, 1))
        self.down = nn.ModuleList(nn.Sequential(nn.Conv2d(4, 6, k, 2, k // 2), settled(6))
                                  for k in (1, 3, 3))

    def forward(self, x):
        x = torch.relu(self.behind(self.narrow(x) + self.wide(x) + self.same(x)))
        x = torch.relu(x + sum(deep(x) for deep in self.deep))
        return sum(down(x) for down in self.down), x


class Writes(nn.Module):
    """Assignments to parts of a tensor."""

    def forward(self, x, i):
        y = x.clone()
        y[y > 1] = 0.5
        y[:, i] = 2.0
        y[0, 1:3] += 1
        y[..., 0].mul_(3)
        return y


class InputWrites(nn.Module):
    """A cache that comes in and is changed, once through a view, and a tensor that is not."""

    def forward(self, cache, i, x):
        cache[:, i] = x
        cache[:, 0].mul_(2)
        return cache.sum(1), x + 1


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    torch.manual_seed(3)
    for name, (function, args) in cases().items():
        module = Call(function).eval()
        given = [a.clone() for a in args]
        with torch.no_grad():
            outputs = module(*given)
        changed = [now for now, before in zip(given, args) if not torch.equal(now, before)]
        outputs = (*changed, *outputs)
        program = torch.export.export(module, args)
        if name.endswith("_functional"):
            program = program.run_decompositions({})
        neutral_archive.save(program, OUT / f"{name}.pt2")
        for kind, tensors in (("input", args), ("output", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(OUT / f"{name}.{kind}_{i}.npy", tensor.detach().contiguous().numpy())
        print(name, len(outputs))


if __name__ == "__main__":
    main()
