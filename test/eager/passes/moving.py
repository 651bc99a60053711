# SPDX-License-Identifier: Apache-2.0
"""Functions that write, view, choose and make elements."""

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def writes(x):
    """Writes in place, through views and into what is read later."""
    def in_place_views(a):
        a = a.clone()
        a[:, 1:2].mul_(2)
        a.transpose(1, 2)[:, 0] = 7.0
        b = a.reshape(2, 12)
        a.add_(1)
        return a, b.relu_(), a.flatten()
    emit("in_place_views", in_place_views, x)

    def in_place_rows(a, c):
        a = a.clone()
        row = a[1]
        row.copy_(c)
        a[0, ..., 2].fill_(5)
        d = a.permute(2, 0, 1).reshape(4, 6)
        d.zero_()
        return a, row * 2, d
    emit("in_place_rows", in_place_rows, x, rand(4))

    def in_place_chain(a):
        b = a * 1
        c = F.relu(b, inplace=True)
        c += b
        d = F.hardtanh(c, 0, 6, inplace=True)
        return b, c, d
    emit("in_place_chain", in_place_chain, x)

    def masked(a):
        a = a.clone()
        a.masked_fill_(a > 0, -1.0)
        a.clamp_(min=-1.5)
        return a
    emit("masked", masked, x)

    def casts(a):
        return a.to(torch.float64), a.int() // 2, a.half().float(), (a > 0).type_as(a)
    emit("casts", casts, x)


def views(x, image):
    """Views, joins and pads."""
    emit("views", lambda a: (
        a.permute(2, 0, 1).reshape(4, -1), a.unflatten(1, (3, 1)), a[:, -1], a[..., ::2],
        a.narrow(2, 1, 2), torch.movedim(a, 0, -1), a.unbind(1)[2], a.chunk(2, 1)[1],
        a.tensor_split(3, 2)[0], a.mT, a.expand(2, 2, 3, 4)[1]), x)
    emit("joins", lambda a: (
        torch.stack([a, a * 2], -1), torch.cat([a, a], 1), a.tile(2, 1), a.repeat(2, 1, 1, 1),
        a.repeat_interleave(2, 1), torch.hstack([a, a]), a.flip(0)), x)
    emit("meshgrid", lambda a, b: tuple(torch.meshgrid(a, b, indexing="xy")), rand(2), rand(3))
    emit("pads", lambda a: (
        F.pad(a, (1, 2, 0, 1), value=2.0), F.pad(a, (1, 2, 2, 1), mode="reflect"),
        F.pad(a, (1, 2, 2, 1), mode="replicate"), F.pad(a, (2, 1, 1, 2), mode="circular"),
        F.pad(a, (-1, 0)), F.pad(a, (-1, 2, 1, -1), value=0.5)), image)
    emit("shuffles", lambda a: (
        torch.channel_shuffle(a, 2), F.pixel_shuffle(a, 2), F.pixel_shuffle(a[0], 2),
        F.pixel_unshuffle(F.pixel_shuffle(a, 2), 2),
        F.pixel_unshuffle(a[:, None], 2)), image)


def factories(x):
    """Tensors out of nothing."""
    emit("factories", lambda a: (
        torch.zeros_like(a) + a, torch.full((2, 2), 3.5), torch.arange(5), torch.arange(1, 4, 0.5),
        torch.eye(3, 4), torch.linspace(-1, 2, 7), torch.ones(2, dtype=torch.int32),
        a.new_full((2,), 4), torch.triu(a[0], 1), torch.tril(a[0], -1), torch.triu(a[:, :2, :2]),
        torch.tensor([1.0, 2.0]) + 1), x)


def indexing(x):
    """Elements chosen by indices."""
    emit("indexing", lambda a, i: (
        a[:, i], a[i, 1], a.index_select(2, i), a.gather(1, i.view(2, 1, 1).expand(2, 2, 4)),
        torch.take(a, i), torch.take_along_dim(a, i.view(2, 1, 1), 1), F.embedding(i, a[0]),
        a[i.int(), i], a.index_put([i.int(), i], a[0, 0])), x, torch.tensor([1, 0]))
    emit("scatters", lambda a: (
        torch.slice_scatter(a, a[:, :1] * 2, 1, 1, 2), torch.select_scatter(a, a[0], 0, 1)), x)
