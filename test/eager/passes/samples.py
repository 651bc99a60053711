# SPDX-License-Identifier: Apache-2.0
"""Functions of samples, lists of tensors, and what is made from numbers."""

import math

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from passes.traced import emit, rand


def derivatives():
    rows = torch.tensor([0.0, 0.5, 2.0, 2.25])
    columns = torch.tensor([1, 2, 4, 7, 9])
    whole = torch.tensor([[1, 5, 2, 9, 4]])
    emit("gradients", lambda a, r, c, i: (
        *torch.gradient(a), *torch.gradient(a, spacing=2.0, edge_order=2),
        *torch.gradient(a, spacing=0.5, dim=[1]), *torch.gradient(a, dim=(1, 0)),
        *torch.gradient(a, spacing=[0.5, 2.0]), *torch.gradient(a, spacing=[2], dim=[1]),
        *torch.gradient(a, spacing=(r, c)), *torch.gradient(a, spacing=(c,), dim=(1,), edge_order=2),
        *torch.gradient(a[:2], dim=0), *torch.gradient(i, dim=1)), rand(4, 5), rows, columns, whole)
    emit("integrals", lambda a, x, i: (
        torch.trapezoid(a), torch.trapezoid(a, dx=0.5, dim=0), torch.trapz(a, x),
        torch.trapezoid(a, torch.cumsum(a, 1)), torch.trapz(i, dx=0.5), torch.trapezoid(a[:, :1]),
        torch.cumulative_trapezoid(a), torch.cumulative_trapezoid(a, dx=0.5, dim=0),
        torch.cumulative_trapezoid(a, x), torch.cumulative_trapezoid(i)),
        rand(4, 5), columns.float(), whole)


def lists():
    emit("lists_of_ranks", lambda a, s: (
        *torch.atleast_1d(a, s), *torch.atleast_2d(a, s), *torch.atleast_3d(a, s)),
        rand(3), torch.tensor(2.0))
    emit("padded_sequences", lambda a, b, c: (
        pad_sequence([a, b, c]), pad_sequence([a, b, c], True, -1.0),
        pad_sequence([a[:, 0], c[:, 0]], padding_side="left")), rand(3, 2), rand(5, 2), rand(1, 2))


def numbers():
    emit("even_steps", lambda a, b: (
        torch.linspace(a, b, 7), torch.linspace(a, 3, 4), torch.linspace(1.5, b, 5),
        torch.linspace(a, b, 6, dtype=torch.int64), torch.logspace(a, b, 4),
        torch.logspace(a, 2, 3, base=3.0), torch.logspace(0, b, 4), torch.linspace(a, b, 1),
        torch.linspace(-3.5, 9.7, 8, dtype=torch.int64), torch.linspace(0, 7, 5, dtype=torch.int32),
        torch.logspace(0, 3, 5, dtype=torch.int64)), torch.tensor(0.3), torch.tensor(2.4))
    emit("more_windows", lambda a: (
        a + torch.bartlett_window(9), torch.bartlett_window(8, periodic=False),
        torch.bartlett_window(1), torch.kaiser_window(10), torch.kaiser_window(7, False),
        torch.kaiser_window(6, periodic=False, beta=8.6, dtype=torch.float64),
        torch.fft.fftfreq(9), torch.fft.fftfreq(8, d=0.1), torch.fft.rfftfreq(9, d=2.0),
        torch.fft.rfftfreq(8)), rand(9))


def others():
    bits = torch.tensor([3, 9, 1])

    def shifted(i, o):
        i = i.clone()
        i <<= 2
        i >>= o
        i &= 7
        i |= 8
        i ^= o
        return i

    def masked(m, o):
        m = m.clone()
        m &= o
        m |= torch.logical_not(o)
        m ^= o
        return m

    emit("bits_in_place", lambda i, o, m: (
        shifted(i, o), masked(m, o > 0), i.clone().bitwise_left_shift_(o).bitwise_right_shift_(1)),
        bits, torch.tensor([1, 0, 1]), torch.tensor([True, False, True]))
    emit("names_of_divisions", lambda a, b: (
        torch.divide(a, b, rounding_mode="floor"), torch.divide(a, 0.3, rounding_mode="trunc"),
        a.clone().divide_(b, rounding_mode="trunc"), torch.linalg.matmul(a, b[0]),
        torch.moveaxis(a, (0, 1), (1, 0)), torch.linalg.diagonal(a, offset=1),
        torch.isin(torch.sign(a), 1.0), torch.isin(torch.sign(a), 1.0, invert=True)),
        rand(2, 3), rand(2, 3))
    emit("matrix_powers", lambda a: (
        torch.linalg.matrix_power(a, 0), torch.linalg.matrix_power(a, 1), torch.matrix_power(a[0], 5),
        torch.linalg.matrix_power(a, 6), torch.linalg.matrix_power(a, -3)), rand(2, 3, 3) + torch.eye(3))
    emit("antialiased_corners", lambda a: (
        F.interpolate(a, size=(2, 8), mode="bilinear", antialias=True, align_corners=True),
        F.interpolate(a, scale_factor=0.6, mode="bicubic", antialias=True, align_corners=True)),
        rand(1, 2, 5, 6))
    emit("resampled_bytes", lambda a: (
        F.interpolate(a, size=(3, 9), mode="bilinear"), F.interpolate(a, size=(7, 4), mode="bicubic"),
        F.interpolate(a, scale_factor=1.6, mode="bilinear", align_corners=True),
        F.interpolate(a, size=(2, 8), mode="bilinear", antialias=True),
        F.interpolate(a, size=(3, 3), mode="bicubic", antialias=True)),
        torch.randint(0, 256, (1, 2, 5, 6), dtype=torch.uint8))
    emit("bounded_norms", lambda a: (
        torch.renorm(a, 2, 0, 1.0), torch.renorm(a, 1, -1, 0.5), a.clone().renorm_(2.5, 1, 10.0),
        F.pdist(a[0]), F.pdist(a[1], p=1.5)), rand(2, 4, 3))
    emit("products_of_integers", lambda a, s, m: (
        torch.baddbmm(s, a, a.mT, beta=0.2, alpha=2.6), torch.addbmm(s[0], a, a.mT, beta=2.5),
        torch.addmv(s[0, 0], a[0], a[1, 0], alpha=3.9), torch.addr(m, m[0], m[1]),
        torch.addbmm(s[0].int(), a.int(), a.int().mT)),
        torch.arange(-6, 6).reshape(2, 2, 3), torch.arange(4).reshape(1, 2, 2).expand(2, 2, 2).clone(),
        torch.tensor([[True, False], [False, True]]))
    emit("sums_of_one_side", lambda a, b, c, i: (
        torch.tensordot(a, b, dims=([1], [0])), torch.tensordot(c, b, dims=([1, 2], [1, 0])),
        torch.einsum("...ik,...j->ij", i, i[0, 0]), i.sum_to_size(1, 1, 3),
        (i > 4).sum_to_size(3)), rand(2, 1, 3), rand(4, 2), rand(5, 2, 4),
        torch.tensor([[[1, 5, 9], [2, 6, 4]]]))
    emit("sums_that_change_their_type", lambda m, u: (
        m[0, 0].sum_to_size(()), m.sum_to_size(()), u.sum_to_size(1, 3),
        torch.logsumexp(m, 1), torch.logsumexp(u, 0), torch.logsumexp(u, (0, 1), True)),
        torch.tensor([[True, False, True], [False, False, True]]),
        torch.tensor([[3, 200, 7], [9, 2, 250]], dtype=torch.uint8))


def halves():
    """Squares and products of these are no halves; what eager makes of them is."""
    x = torch.tensor([[300.0, -400.0, 0.0], [6e-4, 8e-4, 0.0]]).half()
    emit("norms_of_halves", lambda a: (
        F.normalize(a), a.norm(), torch.linalg.vector_norm(a, 3, 1), torch.linalg.vector_norm(a, 1, 1),
        F.cosine_similarity(a, a.flip(1)), F.pairwise_distance(a, -a), torch.dist(a, -a),
        torch._weight_norm(a, a[:, :1], 0)), x)
    emit("steps_of_halves", lambda a: (
        torch.addcmul(a, a, a, value=1e-3), torch.addcdiv(a, a * 100, a.abs() + 1e-3, value=0.01),
        torch.lerp(a * 150, -a * 150, 0.25), torch.lerp(a * 150, -a * 150, a.abs() / 400)), x)


def rare_functions():
    def gammas(a, i):
        return (torch.lgamma(a), torch.lgamma(i), torch.special.gammaln(a.double()),
                torch.digamma(a), torch.special.psi(a.double()), torch.special.digamma(i),
                a.clone().digamma_(), torch.mvlgamma(i.float() + 3, 4),
                torch.special.multigammaln(i.double() + 2, 2), torch.lgamma(a.half()))

    emit("gamma_functions", gammas,
         torch.tensor([-7.5, -3.0, -1.0, -0.75, 0.25, 0.5, 1.0, 1.5, 2.0, 7.75, 8.0, math.nan]),
         torch.tensor([0, 1, 2, 5, 7]))
    emit("gamma_functions_at_ends", gammas,
         torch.tensor([-math.inf, -1e-3, -0.0, 0.0, 1e-3, 30.0, 1e4, math.inf]),
         torch.tensor([0, 40, 1000]))
    emit("gamma_functions_far_away", lambda a: (
        torch.lgamma(a), torch.digamma(a), torch.lgamma(a.double()), torch.digamma(-a.double() - 0.5)),
        torch.tensor([1e20, 1e30, 3e38]))
    near = torch.tensor([-1.0, -0.9999, -0.5, -1e-6, -0.0, 0.0, 1e-9, 0.01, 0.75, 0.999999, 1.0,
                         1.5, math.nan])
    emit("inverse_error_functions", lambda a: (
        torch.erfinv(a), torch.special.erfinv(a.double()), torch.erfinv(a.half())), near)
    emit("bilinear_of_decompositions", lambda a, b, w: (
        torch.ops.aten._trilinear(a, w, b, [1, 3], [0], [1, 2], [2, 3])),
        rand(3, 4), rand(3, 5), rand(2, 4, 5))
