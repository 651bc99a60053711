# SPDX-License-Identifier: Apache-2.0
"""Functions that passes take apart into many operators."""

import math

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def composites(x, image, volume, special):
    emit("unfolding", lambda a, c: (
        F.unfold(a, (3, 2), padding=(1, 0), stride=(2, 1)), F.unfold(a[0], 2, dilation=2),
        F.fold(c, (5, 4), (2, 3), padding=(0, 1), stride=(1, 2))), image, rand(1, 12, 8))
    emit("similarities", lambda a, c: (
        F.cosine_similarity(a, c, 1), F.cosine_similarity(a, c[0, 0], -1),
        F.pairwise_distance(a[0], c[0]), F.pairwise_distance(a[0], c[0], p=1, keepdim=True),
        torch.cdist(a, c[:, :2]), torch.cdist(a[0], c[0], p=1.0)), x, rand(2, 3, 4))
    emit("bilinears", lambda a, c, w, v: (F.bilinear(a, c, w, v), F.bilinear(a, c, w)),
         rand(2, 3), rand(2, 4), rand(5, 3, 4), rand(5))
    emit("diagonals", lambda a: (
        torch.diag(a), torch.diag(a, -1), torch.diag(a[0], 1), torch.diag_embed(a, -2), a.fliplr(), a.flipud()), rand(3, 4))
    emit("differences", lambda a, m: (
        a.diff(), a.diff(2, 0), torch.diff(a, prepend=a[:, :1], append=a[:, 1:3]), m.diff(),
        a[:, :3].trace(), torch.rot90(a, 1, (0, 1)), torch.rot90(a, -1, (0, 1)), torch.rot90(a, 2, (1, 0)),
        torch.linalg.cross(a, a[:, :1] * 2, dim=0)),
        rand(3, 4), torch.tensor([[True, False, False, True]]))
    emit("choices", lambda a, i, m: (
        F.one_hot(i, 4), F.glu(a, 1), F.glu(a), a.index_put([m], torch.tensor(2.0)),
        torch.ops.aten.index_put(a, [None, m[0]], torch.tensor([7.0])), a.masked_scatter(m, a * 3),
        a.scatter(1, i, a[:, :2], reduce="add"),
        a.scatter_reduce(1, i, a[:, :2], "mean"),
        a.scatter_reduce(1, i, a[:, :2], "sum", include_self=False),
        a.scatter_reduce(1, i, a[:, :2], "mean", include_self=False)),
        rand(2, 4), torch.tensor([[1, 1], [0, 3]]), torch.tensor([[True, False, True, False]] * 2))
    emit("single_numbers", lambda a, i, s: (
        a.index_add(0, i, s[0], alpha=2), a.index_copy(0, i, s[0]), a.index_fill(0, i, 3.0),
        torch.index_select(a, 0, i[0]), torch.linspace(2, 5, 1), a.unfold(0, 1, 1),
        s.index_fill(0, i, a)),
        torch.tensor(1.5), torch.tensor([0]), torch.tensor([4.0]))
    emit("more_choices", lambda a, i, j: (
        torch.cross(a, a[:1] * 2), torch.isin(i, j), torch.isin(j, i, invert=True),
        torch.index_select(a, 1, i[0, 0]), a.scatter_add(0, i.int(), a * 2),
        torch._safe_softmax(a.masked_fill(torch.tensor([[True, False, False]]), -math.inf), 0), torch.real(a)),
        rand(2, 3), torch.tensor([[0, 1, 2], [1, 0, 2]]) % 2, torch.tensor([1, 5, 0, 7]))
    emit("more_reductions", lambda a: (
        *torch.std_mean(a), *torch.std_mean(a, 1), *torch.var_mean(a), *torch.var_mean(a, (0, 2), keepdim=True),
        *torch.var_mean(a, dim=1, correction=0), torch.count_nonzero(a), torch.count_nonzero(a, 0),
        a.nansum(), torch.xlogy(a.abs(), a.abs() + 1), torch.round(a, decimals=2),
        torch.round(a * 100, decimals=-1)), x)
    emit("missing_values", lambda a: (a.nansum(0), torch.xlogy(a * 0, a), torch.xlogy(a, a)), special)
    emit("transposed_volumes", lambda a, w, g, c: (
        F.conv_transpose3d(a, w, stride=(2, 1, 2), padding=(1, 0, 1), output_padding=(1, 0, 1)),
        F.conv_transpose3d(a, g, c, groups=2, dilation=(2, 1, 1)), F.conv_transpose3d(a[0], w, stride=3, padding=1)),
        volume, rand(2, 3, 2, 3, 2), rand(2, 2, 2, 2, 2), rand(4))

    emit("mixed_joins", lambda a, h, i: (
        torch.cat([a, i], 1), torch.cat([h, a]), torch.concat([i, h]), torch.stack([i, a])),
        rand(2, 3), rand(2, 3).half(), torch.tensor([[1, 2, 3], [4, 5, 6]]))
    emit("norms_of_matrices", lambda a: (
        torch.linalg.norm(a), torch.linalg.norm(a, dim=-1, keepdim=True),
        torch.linalg.norm(a, 1, dim=1), torch.linalg.norm(a, dim=(0, 2)),
        torch.linalg.matrix_norm(a), torch.linalg.norm(a[0, 0], math.inf)), x)
    emit("products_over_dims", lambda a, c: (
        torch.tensordot(a, c, 1), torch.tensordot(a, c, dims=([2, 0], [0, 1])),
        torch.tensordot(a, c, 0), torch.tensordot(a[0], a, dims=([0, 1], [1, 2]))),
        x, rand(4, 2, 3))


def bags():
    """Bags of rows: of one length, of several, with padding, with an empty bag."""
    table = rand(6, 3)
    emit("bags", lambda i, w, t: (
        F.embedding_bag(i, t, mode="sum"), F.embedding_bag(i, t), F.embedding_bag(i, t, mode="max"),
        F.embedding_bag(i, t, per_sample_weights=w, mode="sum"),
        F.embedding_bag(i, t, padding_idx=2), F.embedding_bag(i, t, mode="max", padding_idx=2)),
        torch.tensor([[1, 2, 0], [4, 3, 3], [2, 2, 2]]), rand(3, 3), table)
    emit("bags_of_lengths", lambda i, o, w, t: (
        F.embedding_bag(i, t, o, mode="sum"), F.embedding_bag(i, t, o),
        F.embedding_bag(i, t, o, mode="sum", per_sample_weights=w, padding_idx=3),
        F.embedding_bag(i, t, o, include_last_offset=True, padding_idx=4)),
        torch.tensor([1, 2, 0, 4, 3, 3, 5]), torch.tensor([0, 3, 3, 5]), rand(7), table)
    emit("distances_of_many_rows", lambda a, c: (torch.cdist(a, c), torch.cdist(c[None], a[:2])),
         rand(2, 27, 3), rand(4, 3))


def other_names():
    """Functions that PyTorch has under two names."""
    probability = torch.tensor([0.0, 1.0, -0.5, 1.5, 0.25, 0.75, math.nan])
    emit("special_logit", lambda a, h: (
        torch.special.logit(a), torch.special.logit(a, 1e-6), torch.special.logit(h, 1e-3)),
        probability, probability[3:].half())
    emit("second_names", lambda a: (
        torch.absolute(a), torch.negative(a), torch.arccos(a), torch.arccosh(a + 1),
        torch.arcsin(a), torch.arcsinh(a), torch.arctan(a), torch.arctanh(a), torch.fix(a * 4),
        torch.special.expit(a), torch.special.erf(a), torch.special.erfc(a),
        torch.special.exp2(a), torch.special.expm1(a), torch.special.log1p(a),
        torch.special.sinc(a)), probability)
    emit("second_names_in_place", lambda a: (
        (a + 1).arctan_().absolute_(), (a * 4).fix_().negative_()), probability)
    large = torch.tensor([[1e25, -2e25, 3e25, 5e24], [2e18, 1e18, -3e18, 0]])
    emit("cosine_of_large_numbers", lambda a, b: (
        F.cosine_similarity(a, b, 1), F.cosine_similarity(a, b, 0)), large, large.flip(1))
