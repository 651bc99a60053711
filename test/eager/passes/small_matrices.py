# SPDX-License-Identifier: Apache-2.0
"""Small matrices, einsum, windows, grids of volumes, writes to diagonals."""

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def matrices():
    a = rand(2, 3, 4, 4)
    # The first pivots are not on the diagonal, and one is far larger than the others.
    a[0, 0, 0, 0] = 0.0
    a[1, 2, 1] *= 1000.0
    emit("inverses", lambda a: (
        torch.linalg.inv(a), torch.inverse(a[0, 0, 1:2, :1]), torch.linalg.inv_ex(a[0])[0],
        torch.linalg.inv_ex(a[0])[1], torch.linalg.inv(a[1, 1].double())), a)
    emit("determinants", lambda a: (
        torch.linalg.det(a), torch.det(a[0, 0, :3, :3]), torch.linalg.det(a[:, :, :1].mT @ a[:, :, :1])),
        a)
    emit("systems", lambda a, b: (
        torch.linalg.solve(a, b), torch.linalg.solve(a[0, 0], b[0, 0, :, 0]),
        torch.linalg.solve(a[0], b[0, :, :, 0]), torch.linalg.solve(a, b[0, 0])), a, rand(2, 3, 4, 2))
    emit("choleskys", lambda a: (
        torch.linalg.cholesky(a @ a.mT + 4 * torch.eye(4)),
        torch.linalg.cholesky(a[0, 0] @ a[0, 0].t() + 4 * torch.eye(4), upper=True),
        torch.cholesky(a[:, 1] @ a[:, 1].mT + 4 * torch.eye(4))), a)


def factors():
    a = rand(2, 3, 4, 4)
    a[0, 0, 0, 0] = 0.0
    a[0, 1, 2] = 0.0  # no inverse
    lower, right = a.tril() + 3 * torch.eye(4), rand(2, 3, 4, 2)
    emit("log_determinants", lambda a: (
        *torch.linalg.slogdet(a), *torch.slogdet(a[1, 1, :1, :1]), torch.logdet(a),
        torch.logdet(a[1].double())), a)
    emit("triangular_systems", lambda a, r: (
        torch.linalg.solve_triangular(a, r, upper=False),
        torch.linalg.solve_triangular(a.mT, r[:1], upper=True),
        torch.linalg.solve_triangular(a[0], r[0, 0], upper=False, unitriangular=True),
        torch.linalg.solve_triangular(a[0, 0], r.mT, upper=False, left=False),
        torch.linalg.solve_triangular(a.mT, r.mT, upper=True, left=False, unitriangular=True),
        torch.linalg.solve_triangular(a[0, 0, :1, :1].double(), r[0, 0, :1].double(), upper=True)),
        lower, right)
    emit("triangular_solves", lambda a, r: (
        *torch.triangular_solve(r, a, upper=False), *torch.triangular_solve(r[:1], a.mT, transpose=False),
        *torch.triangular_solve(r[0, 0], a[0, 0], upper=False, transpose=True),
        *torch.triangular_solve(r, a[0], upper=False, unitriangular=True)), lower, right)
    emit("systems_of_cholesky_factors", lambda a, r: (
        torch.cholesky_solve(r, a), torch.cholesky_solve(r[0, 0], a.mT, upper=True),
        torch.cholesky_inverse(a), torch.cholesky_inverse(a[0, 0].t(), upper=True),
        torch.linalg.cholesky_ex(a @ a.mT)[0], torch.linalg.cholesky_ex(a @ a.mT, upper=True)[1],
        torch.linalg.solve_ex(a, r)[0], torch.linalg.solve_ex(a[0], r[0, :, :, 0])[1],
        torch.linalg.solve(a, r.mT, left=False), torch.linalg.solve(a[0], r[0, 0].mT, left=False)),
        lower, right)
    turn = a[1, 0] - a[1, 0].t()
    emit("exponentials_of_matrices", lambda a, t: (
        torch.matrix_exp(a), torch.linalg.matrix_exp(t), torch.matrix_exp(t.double() * 40),
        torch.matrix_exp(t * 0), torch.matrix_exp(a[:, 0, :1, :1])),
        a, turn)


def sums():
    emit("einsums_of_ellipses", lambda a, b, s: (
        torch.einsum("...ij,...jk->...ik", a, b), torch.einsum("...ij,...jk", a[0], b),
        torch.einsum("b...j,kj->k...b", a, s), torch.einsum("i...,i...->...", a, a),
        torch.einsum("...i->...", a), torch.einsum("...,...", s, s), torch.einsum("i...->i", a),
        torch.einsum("...ij->...ji", a)), rand(2, 3, 4, 5), rand(3, 5, 2), rand(4, 5))
    emit("einsums_of_diagonals", lambda a, b: (
        torch.einsum("ii", a[0]), torch.einsum("ii->i", a[0]), torch.einsum("bii->b", a),
        torch.einsum("bii->bi", a), torch.einsum("bii,bj->ij", a, b),
        torch.einsum("...ii->...i", a), torch.einsum("iii->i", a[:, :2, :2])), rand(2, 3, 3), rand(2, 4))
    emit("einsums_that_broadcast", lambda a, b: (
        torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bij->ij", a, a[:1]),
        torch.einsum("...i,...i->...", a, b[:, 0, :1])), rand(3, 2, 4), rand(1, 4, 5))


def windows():
    emit("windows", lambda a: (
        a * torch.hann_window(6), torch.hann_window(5, periodic=False), torch.hann_window(1),
        torch.hamming_window(6), torch.hamming_window(6, periodic=False),
        torch.hamming_window(5, periodic=True, alpha=0.6),
        torch.hamming_window(5, periodic=False, alpha=0.6, beta=0.3), torch.blackman_window(6),
        torch.blackman_window(6, periodic=False, dtype=torch.float64),
        torch.logspace(0, 2, 5), torch.logspace(-1, 3, 4, base=2.0), torch.logspace(1, 5, 1)), rand(6))


def core_factors():
    """What `run_decompositions()` makes of determinants and systems."""
    a, right = rand(2, 3, 3) + 2 * torch.eye(3), rand(2, 3, 2)
    aten = torch.ops.aten
    emit("determinants_with_factors", lambda a, r: (
        aten._linalg_det(a)[0], *aten._linalg_slogdet(a)[:2],
        aten._linalg_solve_ex(a, r)[0], aten._linalg_solve_ex(a[0], r[0, :, 0])[3],
        aten._linalg_solve_ex(a, r.mT, left=False)[0]), a, right)


def grids():
    for mode in ("bilinear", "nearest"):
        emit("volume_grids_" + mode, lambda x, g: tuple(
            F.grid_sample(x, g, mode, padding, align)
            for padding in ("zeros", "border", "reflection") for align in (False, True)),
            rand(2, 2, 3, 4, 5), rand(2, 2, 3, 2, 3) * 1.5)


def splits_and_diagonals():
    emit("named_splits", lambda a: (
        *a.hsplit(2), *a.vsplit(3), *a.dsplit([1, 3]), *a[0, 0].hsplit([2]), *a.hsplit([1, 1, 3]),
        *a.vsplit([-1])), rand(3, 4, 4))
    emit("writes_to_diagonals", diagonals, rand(4, 5), rand(4))
    emit("largest_of_all", lambda a: F.adaptive_max_pool2d(a, 1), rand(1, 2, 5, 6))


def diagonals(x, v):
    x = x.clone()
    x.diagonal().copy_(v)
    x.diagonal(1)[1:3] += 1.0
    y = x[:, :4].clone().fill_diagonal_(2.5)
    torch.diagonal(y, -1).mul_(3.0)
    return x, y, x.t().clone().fill_diagonal_(0)
