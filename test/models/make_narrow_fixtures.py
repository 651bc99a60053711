#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes narrow/: programs of half and of bfloat16 that together call the kernels of generated C
which know floats, on random inputs: all results of a type are one output. Of the casts a test makes
the inputs.

  python3 make_narrow_fixtures.py        (torch 2.13)

  NAME_f16.pt2  NAME_bf16.pt2  NAME_TYPE.input_I.npy  NAME_TYPE.output_O.npy
"""

import pathlib

import numpy as np
import torch
from torch.nn import functional as F

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "narrow"
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
aten = torch.ops.aten


class Apart(torch.nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return tuple(torch.utils._pytree.tree_leaves(self.function(*args)))


class Together(Apart):
    def forward(self, *args):
        results = super().forward(*args)
        types = list(dict.fromkeys(t.dtype for t in results))
        return tuple(torch.cat([t.flatten() for t in results if t.dtype == d]) for d in types)


def functions(x, y, i):
    unary = (torch.exp, torch.expm1, torch.sin, torch.cos, torch.tanh, torch.sigmoid, torch.erf, torch.abs,
             torch.neg, torch.ceil, torch.floor, torch.trunc, torch.round, torch.sign, torch.relu,
             torch.isnan, torch.logical_not, F.gelu, F.silu, F.hardswish, F.leaky_relu, F.elu,
             lambda t: F.gelu(t, approximate="tanh"), lambda t: torch.log(t.abs()),
             lambda t: torch.sqrt(t.abs()), lambda t: torch.rsqrt(t.abs()), lambda t: t.clamp(-1, 1.5),
             lambda t: F.hardtanh(t, -0.3, 0.7), lambda t: F.glu(t), lambda t: t.pow(3),
             lambda t: 1.3 * t, lambda t: t + 0.1, lambda t: 2 - t, lambda t: t / 3,
             lambda t: torch.fmod(t, 0.7), lambda t: torch.remainder(t, 0.7), lambda t: t > 0.5,
             lambda t: torch.logit(t, 1e-3))
    both = (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum, torch.atan2,
            torch.eq, torch.lt, lambda a, b: torch.add(a, b, alpha=0.3), lambda a, b: a.abs() ** b)
    folds = (torch.sum, torch.mean, torch.amax, torch.argmax, torch.prod, torch.any, torch.var_mean,
             lambda t: t.mean(0), lambda t: t.sum(1, keepdim=True), lambda t: t.var(1),
             lambda t: t.max(1), lambda t: t.min(0), lambda t: t.cumsum(1), lambda t: t.topk(3),
             lambda t: t.softmax(-1), lambda t: t.log_softmax(0))
    return [*(f(x) for f in unary), *(f(x, y) for f in both), *(f(x, y[:1]) for f in both),
            *(f(x) for f in folds), x + i, i / x.abs().clamp(min=0.1)]


def moves(x, y, i, at, mask):
    return [torch.cat([x, y], 1), F.pad(x, (1, 2), value=0.7), F.pad(x[None], (2, 1), "reflect"),
            x.flip(1), x.t().contiguous(), x.gather(1, at), x.scatter(1, at, y), x.scatter(0, at[:2] % 4, -0.3),
            x.scatter_add(1, at, y), torch.index_put(x, (i,), y[:3], True), torch.index_put(x, (i, i), y[0, :3]),
            x[i], x.index_select(0, i), F.embedding(i, x), torch.where(mask, x, y),
            torch.where(mask, x, 0.1), x.masked_fill(mask, float("-inf")), x.tril(), x.roll(1, 1),
            torch.full_like(x, 0.1), x.new_zeros(2) + y[0, :2], torch.arange(5).to(x.dtype) * 0.3,
            F.pixel_shuffle(x.view(1, 4, 3, 2), 2), aten.fill.Tensor(x, y[0, 0]), x.repeat(2, 1)]


def windows(image, point, many, weights, grid, a, b, rows):
    one, three, spread, up, row = weights
    return [F.conv2d(image, three, rows[:4], padding=1), F.conv2d(image, three[:3], stride=2),
            F.conv2d(image, three[:1], dilation=2), F.conv2d(many, spread, rows[:6], groups=6, padding=1),
            F.conv2d(image, one), F.conv_transpose2d(many, up, stride=2), F.conv1d(many.flatten(2), row, padding=1),
            F.max_pool2d(image, 2), F.avg_pool2d(image, 3, 2, 1), F.adaptive_avg_pool2d(image, 2),
            F.interpolate(image, scale_factor=2), F.interpolate(image, (5, 9), mode="bilinear"),
            *([F.grid_sample(image, grid, align_corners=False)] if image.dtype == torch.float16 else []),
            F.batch_norm(image, rows[:3], rows[3:6].abs() + 0.5, rows[6:9], rows[:3]),
            F.group_norm(many, 3, rows[:6], rows[6:]), F.layer_norm(a, (12,), rows, -rows),
            F.instance_norm(many), a @ b, a[0] @ b[0], torch.addmm(rows[:9], a[0], b[0], beta=0.5, alpha=2),
            F.linear(a, b[0].t().contiguous(), rows[:9]), F.linear(point, rows[None])]


# Operands of two types, of which one has numbers that the other lacks.
def promotions(x, wide, double, large, whole):
    both = (torch.add, torch.mul, torch.div, torch.maximum, torch.minimum, torch.eq, torch.lt, torch.ge,
            torch.fmod, torch.remainder)
    pairs = ((x, whole), (whole, x), (x, wide[0]), (double[0], x), (wide, large), (large, wide),
             (wide, double[0]), (large[0], wide))
    return [*(f(a, b) for f in both for a, b in pairs), *(f(x, 0.7001) for f in both if f not in (torch.maximum, torch.minimum)), wide - large,
            *(torch.pow(a.abs(), b) for a, b in ((x, wide[0]), (wide, large % 4))), torch.pow(1.7001, x)]


def casts(x, wide, double, whole):
    return [x.float(), x.double(), x.long(), x.int(), x > 0, x.to(torch.float16), x.to(torch.bfloat16),
            *(t.to(x.dtype) for t in (wide, double, whole, whole.int(), whole > 0))]


def draw(*sizes):
    return torch.randn(*sizes)


def arguments():
    grid = torch.rand(1, 3, 4, 2) * 2.4 - 1.2
    weights = (draw(5, 3, 1, 1), draw(4, 3, 3, 3), draw(6, 1, 3, 3), draw(6, 2, 3, 3), draw(2, 6, 3))
    return {
        "functions": (functions, (draw(4, 6), draw(4, 6), torch.randint(-9, 9, (4, 6)))),
        "moves": (moves, (draw(4, 6), draw(4, 6), torch.tensor([3, 0, 2]),
                          torch.stack([torch.randperm(6)[:3] for _ in range(4)]), torch.rand(4, 6) > 0.5)),
        "windows": (windows, (draw(1, 3, 8, 9), draw(5, 12), draw(1, 6, 5, 7), weights, grid,
                              draw(2, 7, 12), draw(2, 12, 9), draw(12))),
        "promotions": (promotions, (
            draw(24), torch.cat([draw(22), torch.tensor([16777216.0, 16777218.0])]), draw(24).double() / 3,
            torch.cat([torch.randint(1, 9, (22,)), torch.tensor([16777217, 16777219])]),
            torch.cat([torch.randint(1, 9, (20,)), torch.tensor([2049, 4097, 257, 70000])]))),
        "casts": (casts, (draw(65536), draw(400), draw(400).double(), torch.randint(-9, 9, (16,)))),
    }


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    torch.manual_seed(53)
    for name, (function, given) in arguments().items():
        for word, dtype in TYPES.items():
            if name == "casts":
                args = (given[0].to(dtype), *given[1:])
                program = torch.export.export(Apart(function).eval(), args)
                program.example_inputs = None
                neutral_archive.save(program, OUT / f"{name}_{word}.pt2")
                continue
            args = (given[0].to(dtype), *given[1:]) if name == "promotions" else (
                torch.utils._pytree.tree_map(
                    lambda t: t.to(dtype) if t.is_floating_point() else t, given))
            module = Together(function).eval()
            neutral_archive.save(torch.export.export(module, args), OUT / f"{name}_{word}.pt2")
            with torch.no_grad():
                outputs = module(*torch.utils._pytree.tree_map(torch.clone, args))
            save(f"{name}_{word}.input", torch.utils._pytree.tree_leaves(args))
            save(f"{name}_{word}.output", outputs)


# NumPy has no bfloat16: its two bytes.
def save(name, tensors, folder=OUT):
    for i, tensor in enumerate(tensors):
        is_bfloat16 = tensor.dtype == torch.bfloat16
        array = (tensor.view(torch.int16) if is_bfloat16 else tensor).contiguous().numpy()
        np.save(folder / f"{name}_{i}.npy", array.view("V2") if is_bfloat16 else array)


if __name__ == "__main__":
    main()
