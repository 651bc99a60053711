# SPDX-License-Identifier: Apache-2.0
"""Writes eager_cases.txt: small functions, their traces and their results.

    python3 make_eager_cases.py > eager_cases.txt      (torch 2.13)

traced_function.py describes the file.
"""

import math

import torch
import torch.nn.functional as F

from traced_function import emit, rand


def main():
    torch.manual_seed(0)
    x = rand(2, 3, 4)
    image = rand(1, 4, 6, 6)
    signal = rand(1, 4, 9)
    special = torch.tensor([-math.inf, -2.5, -0.0, 0.5, 3.0, math.inf, math.nan])
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])

    # Writes.
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

    # Views.
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
        F.pad(a, (-1, 0))), image)
    emit("shuffles", lambda a: (
        torch.channel_shuffle(a, 2), F.pixel_shuffle(a, 2), F.pixel_shuffle(a[0], 2),
        F.pixel_unshuffle(F.pixel_shuffle(a, 2), 2),
        F.pixel_unshuffle(a[:, None], 2)), image)

    # Products.
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

    # Convolutions.
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

    def network(*layers):
        model = torch.nn.Sequential(*layers)
        model.train()
        with torch.no_grad():
            for _ in range(3):
                model(torch.randn(4, 4, 6, 6))
        return model
    emit("batch_norms", network(
        torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 6, 3, bias=False), torch.nn.BatchNorm2d(6),
        torch.nn.ReLU(True), torch.nn.Conv2d(6, 4, 1, groups=2), torch.nn.BatchNorm2d(4, eps=1e-3),
        torch.nn.ConvTranspose2d(4, 6, 2, groups=2), torch.nn.BatchNorm2d(6, affine=False),
        torch.nn.Flatten(), torch.nn.Linear(150, 3), torch.nn.BatchNorm1d(3)), image)

    # Norms.
    emit("norms", lambda a, g, b: (
        F.layer_norm(a, (4,), g, b), F.layer_norm(a, (3, 4)), F.rms_norm(a, (4,), g),
        F.rms_norm(a, (4,), eps=0.1), F.group_norm(a, 3), F.instance_norm(a),
        F.normalize(a, dim=-1), a.norm(), a.norm(1, -1), a.norm(math.inf, 1),
        torch.linalg.vector_norm(a, 3, -1), torch._weight_norm(a, a[:, :1, :1] + 2, 0)),
        x, rand(4), rand(4))

    # Pools and resampling.
    emit("pools", lambda a: (
        F.max_pool2d(a, 3, 2, 1), F.max_pool2d(a, 2, ceil_mode=True, dilation=2),
        F.avg_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(a, 2, divisor_override=3), F.adaptive_avg_pool2d(a, 1),
        F.adaptive_avg_pool2d(a, 3), F.adaptive_avg_pool2d(a, 4), F.adaptive_max_pool2d(a, 2),
        F.max_pool2d(a[0], 2)), image)
    emit("pools_of_signals", lambda a: (
        F.max_pool1d(a, 3, 2), F.avg_pool1d(a, 2), F.adaptive_avg_pool1d(a, 3),
        F.adaptive_avg_pool1d(a, 1), F.adaptive_max_pool1d(a, 3)), signal)
    emit("pool_with_indices", lambda a: F.max_pool2d(a, 2, return_indices=True), image)
    emit("upsamples", lambda a, s: (
        F.interpolate(a, scale_factor=2), F.interpolate(a, size=(9, 7)),
        F.interpolate(a, scale_factor=1.5, mode="bilinear"),
        F.interpolate(a, size=(4, 11), mode="bilinear", align_corners=True),
        F.interpolate(s, scale_factor=2), F.interpolate(s, size=5, mode="linear")), image, signal)

    # Activations.
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

    # Attention.
    q, k, v = rand(1, 2, 3, 4), rand(1, 2, 3, 4), rand(1, 2, 3, 5)
    attention = F.scaled_dot_product_attention
    emit("attention", lambda q, k, v: (
        attention(q, k, v), attention(q, k, v, is_causal=True), attention(q, k, v, scale=0.3),
        attention(q, k, v, attn_mask=q @ k.mT)), q, k, v)
    emit("attention_masked", lambda q, k, v, m: attention(q, k, v, attn_mask=m), q, k, v, mask)
    emit("attention_grouped", lambda q, k: attention(q, k, k, enable_gqa=True),
         rand(1, 4, 3, 4), rand(1, 2, 5, 4))

    # Arithmetic.
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

    # Reductions.
    emit("reductions", lambda a: (
        a.sum(), a.sum(-1), a.mean(), a.mean((0, -1), keepdim=True), a.amax(1), a.amin((-1, 0)),
        a.var(-1), a.std(), a.std((1, 2), correction=0), a.var(unbiased=False),
        torch.var_mean(a, -1)[1], torch.std_mean(a, dim=0, correction=1)[0], (a > 0).all(), (a > -9).all(1),
        (a > 1).any(-1), a.max(), a.max(1)[0], a.max(1)[1], a.argmax(-1), a.cumsum(1), a.prod(2),
        torch.aminmax(a, dim=0)[1], torch.count_nonzero(a > 0, dim=(1,))), x)

    # Tensors out of nothing.
    emit("factories", lambda a: (
        torch.zeros_like(a) + a, torch.full((2, 2), 3.5), torch.arange(5), torch.arange(1, 4, 0.5),
        torch.eye(3, 4), torch.linspace(-1, 2, 7), torch.ones(2, dtype=torch.int32),
        a.new_full((2,), 4), torch.triu(a[0], 1), torch.tril(a[0], -1), torch.triu(a[:, :2, :2]),
        torch.tensor([1.0, 2.0]) + 1), x)

    # Indexing.
    emit("indexing", lambda a, i: (
        a[:, i], a[i, 1], a.index_select(2, i), a.gather(1, i.view(2, 1, 1).expand(2, 2, 4)),
        torch.take(a, i), torch.take_along_dim(a, i.view(2, 1, 1), 1), F.embedding(i, a[0])), x, torch.tensor([1, 0]))
    emit("scatters", lambda a: (
        torch.slice_scatter(a, a[:, :1] * 2, 1, 1, 2), torch.select_scatter(a, a[0], 0, 1)), x)

    # Recurrent layers: weights of input, state and biases per layer and direction.
    def weights(gates, hidden, cells, biases=True, projection=0):
        out = []
        for size in cells:
            out += [rand(gates * hidden, size), rand(gates * hidden, projection or hidden)]
            if biases:
                out += [rand(gates * hidden), rand(gates * hidden)]
            if projection:
                out += [rand(projection, hidden)]
        return out

    sequence, state = rand(4, 2, 3), rand(1, 2, 5)
    emit("lstm", lambda x, h, *w: torch.lstm(x, (h, h * 2), w, True, 1, 0.0, False, False, False),
         sequence, state, *weights(4, 5, [3]))
    emit("lstm_two_layers_both_ways", lambda x, h, *w: torch.lstm(
        x, (h, h + 1), w, True, 2, 0.0, False, True, True),
        rand(2, 3, 3), rand(4, 2, 5), *weights(4, 5, [3, 3, 10, 10]))
    emit("lstm_projected_without_biases", lambda x, h, c, *w: torch.lstm(
        x, (h, c), w, False, 1, 0.0, False, False, False),
        sequence, rand(1, 2, 2), state, *weights(4, 5, [3], biases=False, projection=2))
    emit("gru", lambda x, h, *w: torch.gru(x, h, w, True, 2, 0.0, False, True, False),
         sequence, rand(4, 2, 5), *weights(3, 5, [3, 3, 10, 10]))
    emit("gru_without_biases", lambda x, h, *w: torch.gru(
        x, h, w, False, 1, 0.0, False, False, False), sequence, state,
        *weights(3, 5, [3], biases=False))
    emit("simple_recurrent", lambda x, h, *w: (
        *torch.rnn_tanh(x, h, w, True, 1, 0.0, False, False, False),
        *torch.rnn_relu(x, h, w, True, 1, 0.0, False, False, False)),
        sequence, state, *weights(1, 5, [3]))
    emit("recurrent_cells", lambda x, h, wi, wh, bi, bh: (
        *torch.lstm_cell(x, (h, h * 2), wi, wh, bi, bh), torch.gru_cell(x, h, wi[:15], wh[:15]),
        torch.rnn_tanh_cell(x, h, wi[:5], wh[:5], bi[:5], bh[:5]),
        torch.rnn_relu_cell(x, h, wi[:5], wh[:5])),
        rand(2, 3), rand(2, 5), *weights(4, 5, [3]))

    # Order and running values.
    ties = torch.tensor([[2.0, -1, 2, 0, -1], [math.nan, 1, 3, 1, 0.5]])
    emit("sorting", lambda a: (
        *torch.sort(a, 1), *torch.sort(a, dim=0, descending=True, stable=True), a.argsort(-1),
        torch.msort(a[:1])), ties)
    emit("middles", lambda a, b: (
        *torch.kthvalue(a, 2, 1, keepdim=True), *a.kthvalue(2, 0), a.median(), b.median(), b[1].median(),
        *a.median(1), *b.median(1), *a.median(2, keepdim=True)),
        x, torch.tensor([[2.0, -1, 3, math.nan], [0.5, 1, -4, 2]]))
    emit("running", lambda a, b: (
        a.cumprod(2), a.logcumsumexp(1), *a.cummax(1), *a.cummin(-1), *b.cummax(1), *b.cummin(0)),
        x, ties)
    emit("buckets", lambda a, e: (
        torch.bucketize(a, e), torch.bucketize(a, e, right=True, out_int32=True),
        torch.searchsorted(e, a, side="right"),
        torch.searchsorted(torch.stack([e, e * 2]), a)), ties, torch.tensor([-1.0, 0.5, 2]))

    # Resampling.
    image = rand(1, 2, 5, 6)
    for mode in ("bicubic", "nearest-exact"):
        emit("resample_" + mode.replace("-", "_"), lambda a: (
            F.interpolate(a, size=(7, 4), mode=mode), F.interpolate(a, scale_factor=1.7, mode=mode)),
            image)
    emit("resample_cubic_corners", lambda a: F.interpolate(
        a, size=(3, 9), mode="bicubic", align_corners=True), image)
    emit("resample_antialiased", lambda a: (
        F.interpolate(a, size=(2, 3), mode="bilinear", antialias=True),
        F.interpolate(a, size=(3, 8), mode="bicubic", antialias=True)), image)
    volume = rand(1, 2, 3, 4, 5)
    emit("resample_volumes", lambda a: (
        F.interpolate(a, size=(4, 3, 7), mode="trilinear"), F.interpolate(a, scale_factor=2),
        F.interpolate(a, size=(2, 5, 3), mode="trilinear", align_corners=True),
        F.interpolate(a, size=(5, 3, 2), mode="nearest-exact")), volume)
    emit("affine_grids", lambda a, c: (
        F.affine_grid(a, (2, 3, 4, 5), align_corners=False),
        F.affine_grid(a, (2, 3, 4, 1), align_corners=True),
        F.affine_grid(c, (1, 1, 2, 3, 4), align_corners=False)), rand(2, 2, 3), rand(1, 3, 4))

    # Volumes.
    emit("volume_convolutions", lambda a, w, g: (
        F.conv3d(a, w, stride=(2, 1, 2), padding=(1, 0, 2)), F.conv3d(a, w[:, :, :2], dilation=(2, 1, 1)),
        F.conv3d(a, g, torch.ones(4), groups=2, padding="same")), volume, rand(3, 2, 2, 3, 2),
        rand(4, 1, 3, 3, 2))
    emit("volume_pools", lambda a: (
        F.max_pool3d(a, 2, 1, 1), F.max_pool3d(a, (3, 2, 2), ceil_mode=True), F.max_pool3d(a, 2, dilation=(1, 2, 1)),
        F.avg_pool3d(a, 2, 1, 1), F.avg_pool3d(a, 2, 2, 1, ceil_mode=True, count_include_pad=False),
        F.avg_pool3d(a, 2, divisor_override=5), F.adaptive_avg_pool3d(a, (2, 3, 4)),
        F.adaptive_avg_pool3d(a, 1), F.adaptive_max_pool3d(a, (2, 3, 2)),
        *F.adaptive_max_pool3d(a, (3, 2, 3), return_indices=True)), volume)
    emit("volume_pads", lambda a: (
        F.pad(a, (1, 2, 0, 1, 1, 0), mode="replicate"), F.pad(a, (2, 1, 1, 1, 0, 2), mode="reflect")), volume)
    emit("places_of_pools", lambda a: (
        *F.max_pool1d(a[0], 3, 2, 1, return_indices=True), F.adaptive_max_pool2d(a, (3, 4)),
        *F.adaptive_max_pool2d(a, (2, 5), return_indices=True),
        *F.adaptive_max_pool1d(a[0], 4, return_indices=True)), image)

    # Composites.
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

    # Bags of rows: of one length, of several, with padding, with an empty bag.
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


main()
