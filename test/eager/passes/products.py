# SPDX-License-Identifier: Apache-2.0
"""Functions of matrix products and convolutions."""

import math

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def products(x):
    emit("matmuls", lambda a, b, v: (
        a @ b, a[0] @ b[1], v @ b, a @ v, v @ v, a.unsqueeze(1) @ b, torch.mv(a[0], v),
        torch.outer(v, v)), x, rand(2, 4, 3), rand(4))
    emit("matmul_transposed", lambda a, w: (a @ w.t(), F.linear(a, w)), x, rand(5, 4))
    emit("einsums", lambda a, b: (
        torch.einsum("bij,bkj->bik", a, b), torch.einsum("bij,ckj->bcik", a, b),
        torch.einsum("bij,bij->b", a, a), torch.einsum("bij->ji", a),
        torch.einsum("bij,kj", a, b[0]), torch.einsum("ij,jk,kl->il", a[0], a[1].t(), a[1])),
        x, rand(2, 5, 4))
    emit("adds_of_products", lambda s, a, b: (
        torch.baddbmm(s, a, b, beta=0.5, alpha=2), torch.addmm(s, a[0], b[0], beta=2, alpha=0.5),
        torch.addmv(s[:, 0], a[0], b[0, :, 0])), rand(3, 3), rand(2, 3, 4), rand(2, 4, 3))
    emit("linears", torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.SiLU(),
                                        torch.nn.Linear(5, 2, bias=False)), x)


def network(*layers):
    """Layers whose batch norms have seen some batches."""
    model = torch.nn.Sequential(*layers)
    model.train()
    with torch.no_grad():
        for _ in range(3):
            model(torch.randn(4, 4, 6, 6))
    return model


def convolutions(image, signal):
    w = rand(8, 4, 3, 3)
    emit("convolutions", lambda a, k, d, e: (
        F.conv2d(a, k, stride=2, padding=1), F.conv2d(a, k, padding="same", dilation=2),
        F.conv2d(a, e, padding="same"), F.conv2d(a, k, padding="valid"),
        F.conv2d(a, d, groups=4, padding=1), F.conv2d(a[0], k)),
        image, w, rand(4, 1, 3, 3), rand(2, 4, 2, 4))
    emit("signals", lambda a, k: (
        F.conv1d(a, k, stride=2), F.conv1d(a, k, padding="same"),
        F.conv_transpose1d(a, k.permute(1, 0, 2), stride=2, padding=1)), signal, rand(6, 4, 4))
    emit("transposed", lambda a, k: (
        F.conv_transpose2d(a, k, stride=2, padding=1, output_padding=1),
        F.conv_transpose2d(a, k, groups=2)), image, rand(4, 3, 3, 3))
    emit("batch_norms", network(
        torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 6, 3, bias=False), torch.nn.BatchNorm2d(6),
        torch.nn.ReLU(True), torch.nn.Conv2d(6, 4, 1, groups=2), torch.nn.BatchNorm2d(4, eps=1e-3),
        torch.nn.ConvTranspose2d(4, 6, 2, groups=2), torch.nn.BatchNorm2d(6, affine=False),
        torch.nn.Flatten(), torch.nn.Linear(150, 3), torch.nn.BatchNorm1d(3)), image)


def encoder_layers():
    """What strict exports under torch.no_grad() make of nn.TransformerEncoder."""
    layer = torch.ops.aten._transformer_encoder_layer_fwd
    attention = (rand(12, 4), rand(12), rand(4, 4), rand(4))
    rest = (rand(4), rand(4), rand(4), rand(4), rand(6, 4), rand(6), rand(4, 6), rand(4))
    keys = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, -math.inf]])
    later = torch.ones(3, 3, dtype=torch.bool).triu(1)
    emit("encoder_layers", lambda x, keys, later, *w: (
        layer(x, 4, 2, *w[:4], False, False, 1e-5, *w[4:]),
        layer(x, 4, 2, *w[:4], True, True, 1e-5, *w[4:], keys, 1),
        layer(x, 4, 1, *w[:4], True, False, 1e-5, *w[4:], later, 0),
        layer(x, 4, 2, *w[:4], False, True, 1e-5, *w[4:], later.expand(2, 2, 3, 3), 2)),
        rand(2, 3, 4), keys, later, *attention, *rest)
