# SPDX-License-Identifier: Apache-2.0
"""Losses, as a program computes them that returns a score."""

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def losses():
    x, y = rand(2, 3) * 2, rand(2, 3)
    p, q = torch.sigmoid(rand(2, 3)), torch.sigmoid(rand(2, 3))
    sign = torch.tensor([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    for how in ("none", "mean", "sum"):
        emit("losses_" + how, lambda a, b, p, q, s: (
            F.mse_loss(a, b, reduction=how), F.l1_loss(a, b, reduction=how),
            F.smooth_l1_loss(a, b, reduction=how, beta=0.5), F.huber_loss(a, b, how, 0.5),
            F.smooth_l1_loss(a, b, reduction=how, beta=0.0),
            F.binary_cross_entropy(p, q, reduction=how),
            F.binary_cross_entropy(p, q, a, reduction=how),
            F.binary_cross_entropy_with_logits(a, q, reduction=how),
            F.binary_cross_entropy_with_logits(a, q, p, reduction=how, pos_weight=b),
            F.kl_div(p.log(), q, reduction=how), F.kl_div(p.log(), q.log(), reduction=how,
                                                          log_target=True),
            F.soft_margin_loss(a, s, reduction=how), F.hinge_embedding_loss(a, s, reduction=how),
            F.margin_ranking_loss(a, b, s, 0.25, reduction=how),
            F.poisson_nll_loss(a, p, reduction=how),
            F.poisson_nll_loss(q, p, log_input=False, reduction=how)), x, y, p, q, sign)
    weight = torch.tensor([0.5, 2.0, 1.0])
    target, ignoring = torch.tensor([1, 0]), torch.tensor([2, -100])
    for how in ("none", "mean", "sum"):
        emit("cross_entropies_" + how, lambda a, w, t, i, p: (
            F.cross_entropy(a, t, reduction=how), F.cross_entropy(a, i, reduction=how),
            F.cross_entropy(a, t, w, ignore_index=0, label_smoothing=0.1, reduction=how),
            F.cross_entropy(a, t, label_smoothing=0.2, reduction=how),
            F.cross_entropy(a, p, reduction=how),
            F.cross_entropy(a, p, w, label_smoothing=0.1, reduction=how),
            F.nll_loss(a, t, reduction=how), F.nll_loss(a, i, w, reduction=how),
            F.cross_entropy(a[0], t[0], reduction=how)), x, weight, target, ignoring, p)
    emit("cross_entropy_of_images", lambda a, t, w: (
        F.cross_entropy(a, t), F.cross_entropy(a, t, w, label_smoothing=0.1),
        F.cross_entropy(a, a.softmax(1), w)), rand(2, 3, 2, 2),
        torch.tensor([[[0, 1], [2, 0]], [[1, 1], [-100, 2]]]), weight)
