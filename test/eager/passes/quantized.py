# SPDX-License-Identifier: Apache-2.0
"""Quantisation in blocks: torchao's operators, and groups."""

import torch
import torchao.quantization.quant_primitives  # noqa: F401
from torch.ao.quantization.fx import _decomposed  # noqa: F401

from passes.traced import emit, rand

AO = torch.ops.torchao
QD = torch.ops.quantized_decomposed
I8 = torch.int8


def levels(*sizes, low=-128, high=127):
    return torch.randint(low, high + 1, sizes, dtype=I8)


def positive(*sizes):
    return rand(*sizes).abs() * 0.05 + 0.01


def chosen(mapping, block, **more):
    return lambda x: AO.choose_qparams_affine(x, mapping, block, I8, **more)


def round_trip(block, low=-128, high=127, **more):
    def run(x):
        scale, zero = AO.choose_qparams_affine(x, "ASYMMETRIC", block, I8, low, high, **more)
        q = AO.quantize_affine(x, block, scale, zero, I8, low, high)
        return q, AO.dequantize_affine(q, block, scale, zero, I8, low, high)
    return run


def blocks():
    x, rows = rand(3, 8), rand(2, 3, 8)
    for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
        emit("choose_" + mapping.lower(), chosen(mapping, [1, 8], zero_point_dtype=I8), x)
        emit("choose_groups_" + mapping.lower(),
             chosen(mapping, [1, 4], quant_min=-8, quant_max=7, eps=1e-5, zero_point_dtype=I8), x)
    emit("choose_keeping_dims", chosen("ASYMMETRIC", [1, 1, 8], zero_point_dtype=I8, keepdim=True),
         rows)
    emit("choose_of_zeros", chosen("ASYMMETRIC", [1, 4]), torch.zeros(2, 4))
    for name, block, tensor in (("rows", [1, 8], x), ("tokens", [1, 1, 8], rows),
                                ("tensor", [3, 8], x), ("groups", [1, 2], x),
                                ("columns", [3, 1], x), ("patches", [3, 2], x),
                                ("elements_of_columns", [1, 3, 1], rows)):
        emit("round_trip_of_" + name, round_trip(block), tensor)
    emit("round_trip_of_4_bits", round_trip([1, 4], -8, 7, zero_point_dtype=I8), x)
    emit("round_trip_of_halves", round_trip([1, 8]), x.half())
    q, zeros = levels(4, 8), torch.zeros(4, 2, dtype=torch.int32)
    emit("dequantize_groups", lambda q, s, z: AO.dequantize_affine(q, [1, 4], s, z, I8, -128, 127),
         q, positive(4, 2), levels(4, 2))
    emit("dequantize_to_halves",
         lambda q, s: AO.dequantize_affine(q, [1, 8], s, None, I8, output_dtype=torch.float16),
         q, positive(4, 1))
    emit("dequantize_per_channel_group",
         lambda q, s, z: QD.dequantize_per_channel_group(q, s, z, -128, 127, I8, 4, torch.float32),
         q, positive(4, 2), zeros)
    rows = torch.tensor([[3, 0], [1, 3]])
    for bits in (8, 4, 2):
        low = -(1 << (bits - 1))
        emit(f"embedding_of_{bits}_bits",
             lambda q, s, z, i: torch.embedding(AO.dequantize_affine(
                 q, [1, 4], s, z, I8, low, -low - 1), i),
             levels(4, 8, low=low, high=-low - 1), positive(4, 2), levels(4, 2, low=-1, high=1),
             rows)
    emit("embedding_of_rows",
         lambda q, s, z, i: torch.embedding(QD.dequantize_per_channel(q, s, z, 0, -128, 127, I8), i),
         q, positive(4), torch.zeros(4, dtype=torch.int64), rows)
    emit("int_mm", lambda a, b: torch.ops.aten._int_mm(a, b), levels(17, 8), levels(8, 16))


def around_zero():
    """What PT2E chooses for symmetric activations, and levels of groups."""
    x, special = 3 * rand(2, 3, 8), torch.zeros(2, 4)
    for name, low, dtype, tensor in (("levels", -127, I8, x), ("bytes", 0, torch.uint8, x),
                                     ("zeros", -127, I8, special), ("halves", -128, I8, x.half())):
        emit("choose_around_zero_for_" + name, lambda x, low=low, dtype=dtype: tuple(
            one.to(to) for one, to in zip(
                QD.choose_qparams_symmetric.tensor(x, low, low + 254, 1e-5, dtype),
                (torch.float64, torch.int64))), tensor)
    halfway = torch.arange(-8, 8).reshape(2, 8) * 0.25
    emit("quantize_per_channel_group",
         lambda x, s, z: QD.quantize_per_channel_group(x, s, z, -8, 7, I8, 4), halfway,
         torch.tensor([[0.5, 0.25], [0.125, 0.5]]), torch.tensor([[1, 0], [-3, 1]]).int())
    # PyTorch declares scales of f64 and zero points of i64, and makes floats of both.
    levels_of_rows = torch.tensor([[[1.5, -2.25, 0.5], [0.0, 0.0, 0.0]],
                                   [[1e-6, -1e-6, 0.0], [-3.0, 127.0, 5.5]]])
    for name, tensor in (("floats", levels_of_rows), ("halves", levels_of_rows.half())):
        emit("choose_around_zero_for_rows_of_" + name, lambda x: tuple(
            one.to(to) for one, to in zip(QD.choose_qparams_per_token(x, I8),
                                          (torch.float64, torch.int64))), tensor)
        emit("choose_for_rows_within_of_" + name,
             lambda x: QD._choose_qparams_per_token_asymmetric_impl(x, I8), tensor)
    emit("round_for_rows", round_rows, levels_of_rows)
    emit("convert_without_fusing", lambda x: QD.convert_element_type.no_fuse(
        QD.convert_element_type.no_fuse(x, torch.float16), torch.float32), 1.001 * levels_of_rows)


def round_rows(x):
    scale, zero = QD.choose_qparams_per_token(x, I8)
    q = QD.quantize_per_token(x, scale, zero, -128, 127, I8)
    return q, QD.dequantize_per_token(q, scale, zero, -128, 127, I8, torch.float32)


def rounding():
    x, scales = 4 * rand(3, 5), torch.tensor([0.03125, 0.05, 0.2])
    zeros = torch.tensor([3, -8, 7], dtype=torch.int32)
    one, zero, on = torch.tensor([0.07]), torch.tensor([12], dtype=torch.int32), torch.tensor([1])
    emit("round_to_levels", lambda x, s, z: (
        torch.fake_quantize_per_tensor_affine(x, 0.05, 10, 0, 255),
        torch.fake_quantize_per_tensor_affine(x, 0.25, -3, -8, 7),
        torch.fake_quantize_per_tensor_affine(x, 0.001, 5, -1000, 30000),
        torch.fake_quantize_per_tensor_affine(x, s[:1] + 0.05, z[:1] + 9, 0, 127),
        torch.fake_quantize_per_channel_affine(x, s, z, 0, -8, 7),
        torch.fake_quantize_per_channel_affine(x.t(), s, z, 1, -128, 127),
        torch.fake_quantize_per_tensor_affine(x.half(), 0.125, 10, 0, 255)), x, scales, zeros)
    emit("round_to_levels_of_tensors", lambda x, s, z: (
        torch.fake_quantize_per_tensor_affine(x, s, z, 0, 255)), x, one, zero)
    ops = torch.ops.aten
    emit("round_to_levels_with_masks", lambda x, s, z, one, zero, on, off: (
        ops.fake_quantize_per_tensor_affine_cachemask(x, 0.05, 10, 0, 255)[0],
        ops._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(x, one, zero, on, 0, 63)[0],
        ops._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(x, one, zero, off, 0, 63)[0],
        ops.fake_quantize_per_channel_affine_cachemask(x, s, z, 0, -8, 7)[0]),
        x, scales, zeros, one, zero, on, 0 * on)
    emit("round_to_levels_of_channels", lambda x, s, z: (
        QD.fake_quant_per_channel(x, s, z, 0, -8, 7),
        QD.fake_quant_per_channel(x.t(), s, 0 * z, 1, -128, 127)), x, scales, zeros)
    # As the quantiser of embeddings makes tables: bytes, and zero points that are floats.
    emit("embedding_of_bytes", lambda q, s, z, i: torch.embedding(
        QD.dequantize_per_channel(q, s, z, 0, 0, 255, torch.uint8), i),
        torch.tensor([[0, 255, 128, 7], [3, 200, 100, 50], [9, 8, 7, 6]], dtype=torch.uint8), scales,
        torch.tensor([12.25, 100.0, 0.5]), torch.tensor([2, 0, 1]))
