#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators/: programs that together call every kernel of generated C which no other
fixture calls, each with several dtypes, dims and arguments, on random inputs.

  python3 make_operator_fixtures.py        (torch 2.13)

  NAME.pt2  NAME.input_I.npy  NAME.output_O.npy
"""

import pathlib
from typing import Any, Callable

import numpy as np
import torch
from torch.nn import functional as F

import neutral_archive

OUT = pathlib.Path(__file__).resolve().parent / "operators"
aten = torch.ops.aten
Case = tuple[Callable[..., Any], tuple[torch.Tensor, ...]]


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return tuple(torch.utils._pytree.tree_leaves(self.function(*args)))


def numbers() -> dict[str, Case]:
    x = torch.rand(3, 5) * 1.8 - 0.9
    wide = torch.randn(4, 6) * 3
    whole = torch.randint(-9, 9, (4, 6))
    divisor = torch.randint(1, 5, (4, 6))
    small = torch.randint(0, 6, (4, 6))
    byte = torch.randint(0, 255, (4, 6), dtype=torch.uint8)
    bits = torch.rand(4, 6) > 0.5
    doubles = torch.randn(4, 6, dtype=torch.float64)
    return {
        "trigonometry": (lambda x, d: [
            f(t) for t in (x, d) for f in (
                torch.acos, torch.asin, torch.atan, torch.asinh, torch.atanh, torch.cos, torch.cosh,
                torch.sin, torch.sinh, torch.tan, lambda t: torch.acosh(t + 2),
                lambda t: torch.atan2(t, -t + 0.1))], (x, x.double())),
        "exponents": (lambda x, d: [
            f(t) for t in (x, d) for f in (
                torch.expm1, torch.erf, F.gelu, lambda t: F.gelu(t, approximate="tanh"),
                lambda t: torch.log10(t.abs()), lambda t: torch.log2(t.abs()), torch.reciprocal,
                lambda t: torch.logit(t.abs()), lambda t: torch.logit(t, eps=0.25),
                lambda t: torch.pow(2.5, t), lambda t: torch.pow(t.abs(), t),
                lambda t: torch.log_softmax(t, 0), lambda t: torch.log_softmax(t, -1),
                lambda t: F.glu(t[:, :4]), lambda t: F.glu(t[:2], 0))], (x, x.double())),
        "rounding": (lambda x, d, i: [
            *(f(t) for t in (x, d, i) for f in (torch.ceil, torch.floor, torch.trunc, torch.round)),
            *(f(t) for t in (x, i) for f in (
                lambda t: torch.fmod(t, 3), lambda t: torch.remainder(t, 3),
                lambda t: torch.div(t, 3, rounding_mode="floor"),
                lambda t: torch.div(t, -3, rounding_mode="trunc"),
                lambda t: torch.rsub(t, 2, alpha=3)))], (wide, doubles, whole)),
        "divisions": (lambda x, i, n: [
            f(t, n) for t in (x, i) for f in (
                torch.fmod, torch.remainder, torch.floor_divide,
                lambda t, n: torch.div(t, n, rounding_mode="floor"),
                lambda t, n: torch.div(t, n, rounding_mode="trunc"), torch.pow)],
            (wide.abs(), whole, divisor)),
        "bits": (lambda i, n, b, m: [
            *(f(t, u) for t, u in ((i, n), (i.int(), n.int()), (b, b.flip(0)), (m, m.flip(0)))
              for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor)),
            *(f(t, 5) for t in (i, i.int(), b)
              for f in (aten.bitwise_and.Scalar, aten.bitwise_or.Scalar, aten.bitwise_xor.Scalar)),
            *(f(t, u) for t, u in ((i, n), (i.int(), n.int()))
              for f in (torch.bitwise_left_shift, torch.bitwise_right_shift)),
            *(f(t, 3) for t in (i, i.int()) for f in (
                aten.bitwise_left_shift.Tensor_Scalar, aten.bitwise_right_shift.Tensor_Scalar))],
            (whole, small, byte, bits)),
        "comparisons": (lambda x, y, i, n, m: [
            *(f(t, u) for t, u in ((x, y), (i, n), (x, i)) for f in (
                torch.gt, torch.lt, torch.ne, torch.ge, torch.le, torch.eq, torch.minimum,
                torch.logical_and, torch.logical_or, torch.logical_xor)),
            *(torch.ge(t, 1) for t in (x, i)), *(torch.any(t) for t in (x > 9, i, m)),
            *(torch.any(t, 1) for t in (x > 2, i, m)), *(torch.any(t, (0, 1)) for t in (i, m)),
            torch.clamp(x, y, y + 1), torch.clamp(i, min=n), torch.clamp(x, max=y)],
            (wide, wide.flip(1), whole, small, bits)),
        "reductions": (lambda x, i: [
            *(f(t) for t in (x, i) for f in (
                torch.argmin, lambda t: t.argmin(1), lambda t: t.argmin(0, keepdim=True),
                torch.prod, lambda t: t.prod(1), lambda t: t.prod(0, keepdim=True))),
            torch.mean(x), torch.mean(x, 1), torch.mean(i, dtype=torch.float32),
            aten.mean.default(x), torch.var_mean(x, 1), torch.var_mean(x, (0, 1), correction=0),
            torch.var_mean(x, 0, correction=2, keepdim=True)], (wide, whole)),
    }


def choices() -> dict[str, Case]:
    x, plane = torch.randn(3, 4, 5), torch.randn(4, 6)
    whole = torch.randint(-9, 9, (3, 4, 5))
    i, j, k = (torch.randint(-n, n, (6,)) for n in (3, 4, 5))
    at = torch.randint(0, 4, (3, 6))
    mask = torch.rand(4, 6) > 0.4
    return {
        "indices": (lambda x, w, i, j, k: [
            f(t) for t in (x, w) for f in (
                lambda t: t[i, j], lambda t: t[i, :, k], lambda t: t[:, j, k], lambda t: t[i, j, k],
                lambda t: t[i[:2, None], j[:3]], lambda t: t[:, j[:3, None], k[2:4]],
                lambda t: t[i[:1, None, None], :, k[:4].view(2, 2)],
                lambda t: t[i.int(), j.int()], lambda t: t[i.view(2, 3)],
                lambda t: t[..., k], lambda t: t[i[:1], :, k], lambda t: t[1:, j, k])],
            (x, whole, i, j, k)),
        "puts": (lambda x, w, i, j, k, v: [
            *(torch.index_put(t, (i, j), v.to(t.dtype)) for t in (x, w)),
            *(torch.index_put(t, (i, j), v.to(t.dtype), True) for t in (x, w)),
            torch.index_put(x, (i, j, k), v[:, 0]), torch.index_put(x, (i, j, k), v[:1, 0], True),
            aten.index_put(x, [None, j, k], v[:3, :1]),
            torch.index_put(x, (i[:2, None], j[:3]), v[:2, None]),
            aten.index_put(x, [i, None, k], v[:, :4], True),
            torch.index_put(w > 0, (i, j), v[:, :] > 0)], (x, whole, i, j, k, torch.randn(6, 5))),
        "scatters": (lambda x, i, s, w: [
            *(f(t) for t in (x, w) for f in (
                lambda t: t.scatter(0, i, s.to(t.dtype)), lambda t: t.scatter(0, i, 2.75),
                lambda t: t.scatter(1, i[:, :4], -3), lambda t: t.scatter_add(0, i, s.to(t.dtype)),
                lambda t: t.gather(0, i), lambda t: t.gather(-1, i[:, :2]))),
            (x > 0).scatter(0, i, True), x.double().scatter(1, i[:2], 0.1)],
            (plane, at, torch.randn(3, 6), torch.randint(-9, 9, (4, 6)))),
        "masks": (lambda x, m, s, w: [
            x.masked_scatter(m, s), x.masked_scatter(m[0], s), w.masked_scatter(m, w.flip(0)),
            aten.masked_scatter(x[:1], m, s), torch.where(m, x, 2.5), torch.where(m, w, x)],
            (plane, mask, torch.randn(40), torch.randint(-9, 9, (4, 6)))),
    }


def tensors() -> dict[str, Case]:
    x, row = torch.randn(2, 3, 4), torch.randn(1, 4)
    whole = torch.randint(-9, 9, (2, 3, 4))
    image, signal, volume = torch.randn(2, 3, 5, 6), torch.randn(2, 3, 7), torch.randn(1, 2, 3, 4, 5)
    weight, mean, variance = torch.randn(3), torch.randn(3), torch.rand(3) + 0.5
    # Beyond the edges, far from them, and on them.
    grid = torch.rand(2, 3, 4, 2) * 3 - 1.5
    grid[0, 0, 0], grid[0, 0, 1], grid[0, 0, 2], grid[0, 0, 3] = 1.0, 9.0, -7.5, -1.0
    resize = {"size": (3, 9)}, {"scale_factor": (1.5, 2.0)}
    return {
        "fills": (lambda x, w, v, n: [
            *(f(t) for t in (x, w) for f in (
                lambda t: aten.fill.Scalar(t, 2.5), lambda t: torch.full_like(t, 3),
                lambda t: aten.fill.Tensor(t, v), lambda t: aten.fill.Tensor(t, n),
                lambda t: t.new_full((2, 3), 4) + t[0, :2, :3])),
            aten.fill.Tensor(x > 0, v), torch.full((2, 2), 1.5) + v, torch.zeros(2, 2) + v,
            torch.ones(2, 2) * v, aten.scalar_tensor(3.0) * v, torch.arange(1, 9, 2) + n,
            torch.empty(2, 3, 4).copy_(w) * 2, aten.copy(x, row_of(x)), aten.copy(w, x),
            aten.copy(x, w)],
            (x, whole, torch.tensor(-0.75), torch.tensor(7))),
        "copies": (lambda x, w: [
            f(t) for t in (x, w) for f in (
                aten.alias_copy, aten.clone, aten.detach_copy, aten.lift_fresh_copy,
                lambda t: aten.diagonal_copy(t, 1, 1, 2), lambda t: aten.diagonal_copy(t, -1),
                lambda t: aten.narrow_copy(t, 2, 1, 2), lambda t: aten.select_copy(t, 1, -1),
                lambda t: aten.split_copy(t, 3, 2), lambda t: aten.split_with_sizes_copy(t, [1, 2], 1),
                lambda t: aten.squeeze_copy.dim(t[:1], 0), lambda t: aten.squeeze_copy.dims(t[:, :1], [0, 1]),
                lambda t: torch.stack([t, t + 1], 1), lambda t: aten.t_copy(t[0]),
                lambda t: aten.transpose_copy.int(t, 0, 2), lambda t: aten.unbind_copy.int(t, 1),
                lambda t: aten.unfold_copy(t, 2, 2, 1), lambda t: aten.unsqueeze_copy(t, 1),
                lambda t: aten.as_strided_copy(t, [2, 3], [1, 4], 2), lambda t: t.repeat(2, 1, 1, 3),
                lambda t: aten.expand_copy(t[:, :1], [2, 5, 4]), lambda t: aten.view_copy(t, [4, 6]),
                lambda t: aten.permute_copy(t, [2, 0, 1]), lambda t: aten.slice_copy(t, 2, 0, 4, 3))],
            (x, whole)),
        "formats": (lambda x: [
            x.contiguous(memory_format=torch.channels_last) * 2,
            x.to(torch.float64, memory_format=torch.channels_last),
            x.clone(memory_format=torch.channels_last)], (image,)),
        "pads": (lambda s, i, v: [
            *(F.pad(s, p, m) for p in ((2, 3), (0, 1)) for m in ("reflect", "replicate")),
            *(F.pad(i, p, m) for p in ((2, 3, 1, 0), (0, 1, 4, 2)) for m in ("reflect", "replicate")),
            aten.reflection_pad3d(v, [1, 2, 3, 0, 1, 1]), aten.reflection_pad3d(v[0], [0, 4, 0, 0, 2, 0]),
            aten.replication_pad3d(v, [1, 2, 3, 0, 7, 1]),
            aten.replication_pad3d(v.double(), [0, 1, 0, 1, 0, 1]), F.pad(v, (1, -1), value=2.5)],
            (signal, image, volume)),
        "resizes": (lambda x: [
            F.interpolate(t, mode=mode, **given, **more) for t in (x, x.double()) for given in resize
            for mode, more in (("bilinear", {}), ("bilinear", {"align_corners": True}),
                               ("nearest", {}))], (image,)),
        "grids": (lambda x, g: [
            *(F.grid_sample(x, g, mode, padding, corners) for mode in ("bilinear", "nearest", "bicubic")
              for padding in ("zeros", "border", "reflection") for corners in (False, True)),
            F.grid_sample(x.double(), g.double(), align_corners=False)], (image, grid)),
        "batch_norms": (lambda x, s, w, m, v: [
            *(F.batch_norm(t, m, v, a, b, False, 0.1, 1e-3) for t in (x, s)
              for a, b in ((w, m), (None, None))),
            *(F.batch_norm(t, None, None, a, b, True, 0.1, 1e-3) for t in (x, s)
              for a, b in ((w, m), (w, None), (None, None)))], (image, signal, weight, mean, variance)),
    }


def numbers_as_lists() -> dict[str, Case]:
    """Tensors without dims where an index counts along one."""
    return {
        "numbers_as_lists": (lambda x, s, i, k, v: [
            s.gather(0, i), s.gather(0, k), x.gather(0, i), s.index_select(0, i), s.index_select(0, k[:1]),
            s.scatter(0, i, 7.5), s.scatter(0, k[:1], -3), x.scatter(0, i, 2.5), s.scatter(0, i, v * 2),
            x.scatter_add(0, i, v), x.scatter_add(0, k[:1], s), s.scatter_add(0, k[:1], x[:1])],
            (torch.randn(4), torch.tensor(2.5), torch.tensor(0), torch.zeros(3, dtype=torch.int64),
             torch.tensor(1.25))),
    }


def several_out() -> dict[str, Case]:
    """Calls with out= and several results: without elements, whole, and parts of a tensor."""

    def write(x):
        best = torch.max(x, 1, out=(torch.empty(0), torch.empty(0, dtype=torch.int64)))
        least = torch.min(x, 0, out=(x.new_empty(6), torch.empty(6, dtype=torch.int64)))
        pair = torch.zeros(2, *x.shape)
        order = torch.sort(x, 1, True, out=(pair[0], torch.empty_like(x, dtype=torch.int64)))[1]
        torch.aminmax(x, dim=1, out=(pair[1, :, 0], pair[1, :, 2]))
        third = torch.kthvalue(x, 3, out=(x.new_empty(4), torch.empty(4, dtype=torch.int64)))
        middle = torch.median(x, 1, out=(pair[1, :, 5], torch.empty(4, dtype=torch.int64)))
        return best, least, order, pair, third, middle

    return {"several_out": (write, (torch.randn(4, 6),))}


def row_of(x):
    return x[:1, :1]


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    torch.manual_seed(47)
    cases = {**numbers(), **choices(), **tensors(), **numbers_as_lists(), **several_out()}
    for name, (function, args) in cases.items():
        module = Call(function).eval()
        with torch.no_grad():
            outputs = module(*(a.clone() for a in args))
        neutral_archive.save(torch.export.export(module, args), OUT / f"{name}.pt2")
        for kind, tensors_ in (("input", args), ("output", outputs)):
            for i, tensor in enumerate(tensors_):
                np.save(OUT / f"{name}.{kind}_{i}.npy", tensor.detach().contiguous().numpy())
        print(name, len(outputs))


if __name__ == "__main__":
    main()
