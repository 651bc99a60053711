# SPDX-License-Identifier: Apache-2.0
"""Tensors made of all pairs, places or parts of others, and statistics of elements in order."""

import math

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def parts():
    emit("blocks", lambda a, b, i: (
        torch.block_diag(a, b, i), torch.block_diag(a[0], b[0, 0]), torch.kron(a, b),
        torch.kron(a[0], b), torch.kron(i, a), torch.diagflat(a), torch.diagflat(a[0], -2),
        a.mH, a.H), rand(2, 3), rand(1, 2), torch.tensor([[1, 2], [3, 4], [5, 6]]))
    emit("all_pairs", lambda a, b: (
        torch.cartesian_prod(a, b, a), torch.cartesian_prod(a), torch.cartesian_prod(b, a)),
        rand(4), rand(2))
    emit("places_of_triangles", lambda a: (
        torch.triu_indices(3, 4), torch.triu_indices(3, 4, 1), torch.triu_indices(4, 2, -2),
        torch.tril_indices(3, 4), torch.tril_indices(3, 4, -1), torch.tril_indices(4, 2, 1),
        torch.tril_indices(2, 2, 5, dtype=torch.int32), torch.triu_indices(2, 2, 5),
        a[torch.triu_indices(3, 3, 1)[0], torch.triu_indices(3, 3, 1)[1]]), rand(3, 3))
    emit("diagonals_of_any_dims", lambda a, v: (
        torch.diag_embed(v, 1, 0, 2), torch.diag_embed(v, -1, 1, 0), torch.diag_embed(v, 0, 2, 0),
        torch.diagonal_scatter(a, v[0]), torch.diagonal_scatter(a, v[0, :2], 1),
        torch.diagonal_scatter(a, v[0], -1), torch.diagonal_scatter(a, v[0], 0, 1, 0),
        torch.diagonal_scatter(a[None].expand(2, 4, 3), v, 0, 1, 2),
        torch.diagonal_scatter(a.reshape(2, 2, 3), v[:, :1], 1, -1, 0)), rand(4, 3), rand(2, 3))


def statistics():
    x = rand(3, 5)
    holes = torch.tensor([[1.0, math.nan, 3, 2], [math.nan] * 4, [4, 1, math.inf, 0]])
    ways = ("linear", "lower", "higher", "midpoint", "nearest")
    emit("quantiles", lambda a, q: (
        *(torch.quantile(a, q, dim, keep, interpolation=way)
          for way in ways for dim, keep in ((None, False), (0, False), (1, True))),
        torch.quantile(a, 0.3), torch.quantile(a, 1.0, 1), torch.quantile(a, q[1], 0),
        torch.quantile(a[0, 0], q), torch.quantile(a[None], q, 2)), x, torch.tensor([0, 0.25, 0.6, 1]))
    emit("quantiles_with_holes", lambda a, q: (
        *(torch.nanquantile(a, q, 1, interpolation=way) for way in ways),
        torch.nanquantile(a, 0.5), torch.quantile(a, q, 1), torch.quantile(a, 0.5, 0, True)),
        holes, torch.tensor([0.1, 0.5]))
    emit("sums_and_distances", lambda a, b, v: (
        a.sum_to_size(3, 1), a.sum_to_size(1, 5), a.sum_to_size(5), a.sum_to_size(1), a.sum_to_size(3, 5),
        v.sum_to_size(2, 1), torch.dist(a, b), torch.dist(a, b[0], 1), torch.dist(a, b, math.inf),
        torch.dist(a, b, 0), torch.dist(a, b, 3), torch.linalg.norm(a, "fro"),
        torch.linalg.norm(v, "fro", dim=(0, 2), keepdim=True)), x, rand(3, 5), rand(2, 2, 3))
    emit("losses_of_embeddings", lambda a, b, c, t: (
        *(F.triplet_margin_loss(a, b, c, swap=swap, reduction=reduction)
          for swap in (False, True) for reduction in ("none", "mean", "sum")),
        F.triplet_margin_loss(a, b, c, margin=0.1, p=1),
        *(F.cosine_embedding_loss(a, b, t, margin, reduction=reduction)
          for margin in (0.0, 0.3) for reduction in ("none", "mean", "sum")),
        F.cosine_embedding_loss(a[0], b[0], t[0])),
        rand(3, 4), rand(3, 4), rand(3, 4), torch.tensor([1, -1, -1]))


def others():
    special = torch.tensor([-math.inf, -2.5, -0.0, 0.0, 0.5, math.inf])
    emit("signs", lambda a, b: (
        torch.copysign(a, b), torch.copysign(b, a), torch.copysign(a, -0.0), torch.copysign(a, 3), torch.signbit(a), torch.signbit((a * 2).clamp(-9, 9).int()),
        F.rrelu(b), F.rrelu(b, 0.5, 0.75), torch.logcumsumexp(b[1], 0)), special, special.flip(0))
    emit("cyclic_windows", lambda a: (
        F.pad(a, (-1, 1, -2, 1), "circular"), F.pad(a[0], (2, -1), "circular"),
        F.pad(a, (-1, -1, 2, -2), "circular")), rand(1, 2, 4, 5))
    emit("places_from_the_end", lambda a, i: (
        torch.take_along_dim(a, i, 1), torch.take_along_dim(a, i[:1], 1), torch.take_along_dim(a, i.abs()),
        a[0, 0].scatter_add(0, i[0, :1] * 0, a[1, :1])), rand(3, 5),
        torch.tensor([[0, -1, 2], [4, -5, 1], [-2, -2, 3]]))
    emit("reductions_by_place", lambda a, b, i, j: (
        *(a.scatter_reduce(0, i, b, how, include_self=own)
          for how in ("amax", "amin", "prod", "mean", "sum") for own in (True, False)),
        a.scatter_reduce(1, i[:3, :2], b, "amax"), a[0].scatter_reduce(0, i[:, 0], b[:, 0], "prod"),
        (a * 9).long().scatter_reduce(0, i, (b * 9).long(), "amax", include_self=False),
        (a * 9).int().scatter_reduce(0, i, (b * 9).int(), "prod"),
        a.scatter(0, i, 2.0, reduce="multiply"), a.scatter(0, i, b, reduce="multiply"),
        a.scatter(0, i, 2.0, reduce="add"), a.clone().scatter_reduce_(0, i, b, "amin"),
        *(a.index_reduce(1, j, b[:3].repeat(1, 2)[:, :6], how) for how in ("prod", "mean", "amax", "amin")),
        a.index_reduce(0, j[:4], b, "amax", include_self=False)),
        rand(3, 5), rand(4, 5), torch.tensor([[0, 1, 2, 0, 0], [0, 1, 1, 2, 0], [2, 1, 1, 0, 2],
                                              [0, 0, 2, 2, 1]]), torch.tensor([0, 2, 1, 2, 0, 0]))
    emit("cosines_of_lines_that_broadcast", lambda a, b: (
        F.cosine_similarity(a, b), F.cosine_similarity(b, a, 0), F.cosine_similarity(a[0], b, 2),
        F.cosine_similarity(a, b, -1)), rand(1, 2, 3), rand(2, 1, 3))
