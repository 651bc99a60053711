# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, reductions, norms and attention."""

import math

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def norms(x):
    emit("norms", lambda a, g, b: (
        F.layer_norm(a, (4,), g, b), F.layer_norm(a, (3, 4)), F.rms_norm(a, (4,), g),
        F.rms_norm(a, (4,), eps=0.1), F.group_norm(a, 3), F.instance_norm(a),
        F.normalize(a, dim=-1), a.norm(), a.norm(1, -1), a.norm(math.inf, 1),
        torch.linalg.vector_norm(a, 3, -1), torch._weight_norm(a, a[:, :1, :1] + 2, 0)),
        x, rand(4), rand(4))


def activations(x, special):
    emit("activations", lambda a: (
        F.relu6(a), F.silu(a), F.hardswish(a), F.hardsigmoid(a), F.mish(a), F.softplus(a, 2, 1),
        F.gelu(a), F.gelu(a, approximate="tanh"), F.selu(a), F.celu(a, 0.5), F.elu(a, 0.3),
        F.leaky_relu(a), F.logsigmoid(a), F.hardshrink(a), F.softshrink(a), F.threshold(a, 0.1, 2),
        F.tanhshrink(a), F.softsign(a), F.hardtanh(a, -0.5, 0.25)), x * 3)
    emit("prelu", lambda a, w: (F.prelu(a, w), F.prelu(a, w[:1])), x, rand(3))
    emit("special_activations", lambda a: (
        F.softplus(a), F.logsigmoid(a), F.hardshrink(a), F.threshold(a, 0.1, 2), F.relu6(a)),
        special)
    emit("softmaxes", lambda a: (
        F.softmax(a, -1), F.log_softmax(a, 0), torch.logsumexp(a, 1), F.softmin(a, 1),
        torch.logsumexp(a, (0, 2), keepdim=True)), x)


def attention_of(mask):
    q, k, v = rand(1, 2, 3, 4), rand(1, 2, 3, 4), rand(1, 2, 3, 5)
    attention = F.scaled_dot_product_attention
    emit("attention", lambda q, k, v: (
        attention(q, k, v), attention(q, k, v, is_causal=True), attention(q, k, v, scale=0.3),
        attention(q, k, v, attn_mask=q @ k.mT)), q, k, v)
    emit("attention_masked", lambda q, k, v, m: attention(q, k, v, attn_mask=m), q, k, v, mask)
    emit("attention_grouped", lambda q, k: attention(q, k, k, enable_gqa=True),
         rand(1, 4, 3, 4), rand(1, 2, 5, 4))


def arithmetic(x, special):
    emit("arithmetic", lambda a, b: (
        torch.addcmul(a, a, b, value=0.5), torch.addcdiv(a, b, b + 9, value=2),
        torch.lerp(a, b, 0.3), torch.lerp(a, b, b), a.square(), 1 - a, torch.rsub(a, b, alpha=2),
        a + 2 * b, torch.add(a, b, alpha=3), a.clamp_min(0.2), a.clamp_max(0.2),
        torch.maximum(a, b), a % 0.75, a.fmod(b + 9), torch.div(a, b + 9, rounding_mode="floor"),
        a.abs().sqrt() ** 3, 2 ** a, a / 3, 3 / (a + 9), torch.hypot(a, b),
        torch.logaddexp(a, b), torch.where(a > b, a, 0.5)), x, rand(2, 3, 4))
    emit("unary", lambda a: (
        torch.erf(a), torch.erfc(a), a.exp2(), a.frac(), a.sgn(), a.sinc(),
        torch.deg2rad(a), torch.rad2deg(a), a.neg(), a.reciprocal()), x + 0.01)
    emit("special_values", lambda a: (
        a.isfinite(), a.isposinf(), a.isneginf(), torch.nan_to_num(a), a.clamp(-1, 2),
        torch.nan_to_num(a, 1, 2, 3)), special)
    emit("integers", lambda a, m: (
        a // 3, a % 3, a + 2.5, a * 2, torch.bitwise_and(a, 3), m & m, m | True, -a, a > 1,
        a.float().mean(), m + 1), torch.tensor([[7, -7], [0, 12]]), torch.tensor([True, False]))


def extremes():
    """Squares of these are infinite or 0."""
    a = torch.tensor([1e30, -3e38, 1e-30, 0.0, math.inf, -math.inf, 3e-20, math.nan, 2.0])
    b = torch.tensor([-2e30, 1e38, 3e-30, -0.0, -math.inf, 1.0, 1e-25, 1.0, math.inf])
    emit("hypot_of_extremes", torch.hypot, a, b)
    emit("hypot_of_half_extremes", torch.hypot,
         torch.tensor([300.0, -4e4, 1e-4, 0.0, math.inf]).half(),
         torch.tensor([400.0, 3e4, 3e-4, 0.0, -math.inf]).half())


def reductions(x):
    emit("reductions", lambda a: (
        a.sum(), a.sum(-1), a.mean(), a.mean((0, -1), keepdim=True), a.amax(1), a.amin((-1, 0)),
        a.var(-1), a.std(), a.std((1, 2), correction=0), a.var(unbiased=False),
        torch.var_mean(a, -1)[1], torch.std_mean(a, dim=0, correction=1)[0], (a > 0).all(), (a > -9).all(1),
        (a > 1).any(-1), a.max(), a.max(1)[0], a.max(1)[1], a.argmax(-1), a.cumsum(1), a.prod(2),
        torch.aminmax(a, dim=0)[1], torch.count_nonzero(a > 0, dim=(1,))), x)
