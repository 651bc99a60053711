# SPDX-License-Identifier: Apache-2.0
"""Calls of recurrence, composites, scalars and quantisation."""

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401
import torch
import torchao.quantization.quant_primitives  # noqa: F401
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

from inference.calls import B, I, T, call

# Recurrence.
for directions in (1, 2):
    for batch_first in (False, True):
        x = T(2, 5, 3) if batch_first else T(5, 2, 3)
        states = [T(directions, 2, 4), T(directions, 2, 4)]
        for gates, op, hx in [(4, "lstm.input", states),
                              (3, "gru.input", states[0]),
                              (1, "rnn_tanh.input", states[0]),
                              (1, "rnn_relu.input", states[0])]:
            weights = [T(4 * gates, 3), T(4 * gates, 4)] * directions
            call(op, x, hx, weights, False, 1, 0.0, False, directions == 2,
                 batch_first)

# Composites.
call("lstm_cell", T(2, 3), [T(2, 4), T(2, 4)], T(16, 3), T(16, 4))
call("gru_cell", T(2, 3), T(2, 4), T(12, 3), T(12, 4), T(12), T(12))
for op in ("rnn_tanh_cell", "rnn_relu_cell"):
    call(op, T(2, 3), T(2, 4), T(4, 3), T(4, 4))
for op in ("fliplr", "flipud", "msort"):
    call(op, T(3, 4))
call("kthvalue", T(3, 4), 2)
call("kthvalue", T(3, 4), 2, 0, True)
call("kthvalue", T(), 1)
call("im2col", T(2, 3, 7, 8), [3, 2], [1, 2], [1, 0], [2, 1])
call("im2col", T(3, 7, 8), [3, 2], [1, 1], [0, 0], [1, 1])
call("col2im", T(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
call("col2im", T(12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
for shift in (0, 1, -2, 9):
    call("diag", T(3, 4), shift)
    call("diag", T(3), shift)
call("cosine_similarity", T(2, 3), T(2, 3))
call("cosine_similarity", T(2, 3, 4), T(4), -1)
call("pairwise_distance", T(2, 3), T(2, 3))
call("pairwise_distance", T(2, 3), T(3), 1.0, 1e-6, True)
call("diff", T(3, 4))
call("diff", T(3, 4), 2, 0)
call("diff", B(2, 5), 1, -1, B(2, 1), B(2, 2))
call("trace", T(3, 4))
call("trace", I(3, 3))
call("cross", T(2, 3), T(2, 3))
call("cross", T(3, 3), T(3, 1), dim=0)
call("linalg_cross", T(2, 3), T(2, 3))
call("linalg_cross", T(3, 4), T(3, 1), dim=0)
call("bilinear", T(2, 5, 3), T(2, 5, 4), T(6, 3, 4), T(6))
call("count_nonzero", T(2, 3))
call("count_nonzero", T(2, 3), 1)
for op in ("std_mean", "var_mean"):
    call(op, T(2, 3))
call("std_mean.dim", T(2, 3), [0], True, True)
call("nansum", T(2, 3), [0])
call("nansum", T(2, 3))
call("scatter.reduce", T(5, 6), 1, I(5, 2), T(5, 2), reduce="add")

# Effects and scalars.
call("_assert_tensor_metadata", T(2), [2], None, torch.float32)
call("_assert_scalar", True, "message")
call("_assert_async", B())
call("_assert_async.msg", B(), "message")
call("sym_constrain_range", 3, min=0, max=9)
call("sym_constrain_range_for_size", 3, min=0, max=9)
call("sym_size.int", T(2, 3), 1)
call("sym_stride.int", T(2, 3), 0)
call("sym_numel", T(2, 3))
for tensor in (T(), I(1), B()):
    call("item", tensor)
    call("_local_scalar_dense", tensor)

# Quantisation.
Q = "quantized_decomposed."
call(Q + "quantize_per_tensor.default", T(2, 3), 0.1, 3, -128, 127, torch.int8)
call(Q + "dequantize_per_tensor.default", T(2, 3, dt="i8"), 0.1, 3, -128, 127,
     torch.int8)
SCALE, ZERO = T(1, fill=1), I(1)
call(Q + "quantize_per_tensor.tensor", T(2), SCALE, ZERO, 0, 255, torch.uint8)
call(Q + "dequantize_per_tensor.tensor", T(2, dt="u8"), SCALE, ZERO, 0, 255,
     torch.uint8)
call(Q + "quantize_per_tensor.tensor2", T(2), SCALE, ZERO, I(), I(fill=255),
     torch.uint8)
call(Q + "dequantize_per_tensor.tensor2", T(2, dt="u8"), SCALE, ZERO, I(),
     I(fill=255), torch.uint8)
call(Q + "quantize_per_channel.default", T(2, 3), T(3, fill=1), I(3), 1, -127,
     127, torch.int8)
call(Q + "dequantize_per_channel.default", T(2, 3, dt="i8"), T(3, fill=1),
     I(3), 1, -127, 127, torch.int8)
call(Q + "choose_qparams.tensor", T(2, 3), -128, 127, 1e-5, torch.int8)
call(Q + "choose_qparams_symmetric.tensor", T(2, 3), -127, 127, 1e-5,
     torch.int8)
call(Q + "choose_qparams_per_token_asymmetric.default", T(2, 3, 4), torch.int8)
call(Q + "_choose_qparams_per_token_asymmetric_impl.default", T(2, 3, 4), torch.int8)
call(Q + "fake_quant_per_channel.default", T(2, 3), T(3, fill=1), I(3), 1, -127, 127)
call(Q + "convert_element_type.no_fuse", T(2, 3), torch.float16)
call(Q + "quantize_per_token.default", T(2, 4), T(2, 1, dt="f64", fill=1),
     I(2, 1), -128, 127, torch.int8)
call(Q + "dequantize_per_token.default", T(2, 4, dt="i8"),
     T(2, 1, dt="f64", fill=1), I(2, 1), -128, 127, torch.int8, torch.float32)
call(Q + "quantize_per_channel_group.default", T(2, 8), T(2, 2, fill=1),
     I(2, 2), -8, 7, torch.int8, 4)
call(Q + "dequantize_per_channel_group.default", T(2, 8, dt="i8"),
     T(2, 2, fill=1), I(2, 2), -8, 7, torch.int8, 4, torch.float32)
for bits, columns in (("byte", 8), ("4bit", 4), ("2bit", 2)):
    TABLE = T(5, columns, dt="i8" if bits == "byte" else "u8")
    low = {"byte": -128, "4bit": -8, "2bit": -2}[bits]
    call(Q + f"embedding_{bits}.default", TABLE, T(5, fill=1), T(5), low, -low - 1, I(2, 3))
    call(Q + f"embedding_{bits}.dtype", TABLE, T(5, 2, fill=1), None, low, -low - 1, I(4),
         dtype=torch.float16)

# In blocks.
A = "torchao."
ONE, ROW = T(3, 1, fill=1), T(3, 1, dt="i8")
for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
    call(A + "choose_qparams_affine.default", T(3, 8), mapping, [1, 8], torch.int8, -128, 127)
    call(A + "choose_qparams_affine.default", T(3, 8), mapping, [1, 4], torch.int8, -8, 7, 1e-5,
         torch.float64, torch.int8)
call(A + "choose_qparams_affine.default", T(2, 3, 8), "ASYMMETRIC", [1, 1, 8], torch.int8, None,
     None, None, None, torch.int8, True)
call(A + "choose_qparams_affine.default", T(2, 3, 8), "ASYMMETRIC", [2, 3, 8], torch.int8)
call(A + "choose_qparams_affine.default", T(1, 8), "ASYMMETRIC", [1, 8], torch.uint8)
call(A + "quantize_affine.default", T(3, 8), [1, 8], ONE, ROW, torch.int8, -128, 127)
call(A + "quantize_affine.default", T(3, 8), [1, 4], T(3, 2, fill=1), I(3, 2), torch.uint8)
call(A + "dequantize_affine.default", T(3, 8, dt="i8"), [1, 8], ONE, ROW, torch.int8, -128, 127,
     torch.float32)
call(A + "dequantize_affine.default", T(3, 8, dt="i8"), [3, 2], T(1, 4, fill=1), None, torch.int8,
     output_dtype=torch.float16)
for left in ("i8", "u8"):
    call("_int_mm", T(17, 8, dt=left), T(8, 16, dt="i8"))

# Decoders of ExecuTorch.
D = "llama."
QUERY, CACHE, ROWS = T(2, 3, 4, 8), T(2, 9, 2, 8), T(2, 3, 2, 8)
call(D + "custom_sdpa.default", QUERY, CACHE, CACHE, 2, None, 0.0, True)
call(D + "custom_sdpa.default", QUERY, CACHE, CACHE, 2, T(3, 9), scale=0.5)
call(D + "sdpa_with_kv_cache.default", QUERY, ROWS, ROWS, CACHE, CACHE, 2, 3, None, 0.0, True)
call(D + "update_cache.default", ROWS, CACHE, 1)
call(D + "update_cache_with_indices.default", ROWS, CACHE, 0, I(2, 3))
LEVELS = [T(2, 3, 4, 8, dt="i8"), T(2, 9, 2, 8, dt="i8"), T(2, 9, 2, 8, dt="i8")]
NUMBERS = [T(*levels.sizes[:3], 1, dt=dt, fill=1) for levels in LEVELS for dt in ("i8", "f32")]
call(D + "custom_quantized_sdpa.default", *LEVELS, 2, None, 0.0, True, None, *NUMBERS)
call(D + "fast_hadamard_transform.default", T(3, 56))

# Networks trained for integers.
SCALE, ZERO = T(fill=1), T(1, dt="i32")
for op in ("fake_quantize_per_tensor_affine", "fake_quantize_per_tensor_affine_cachemask"):
    call(op, T(2, 3), 0.5, 3, 0, 255)
    call(op, T(2, 3, dt="f16"), 0.5, -3, -128, 127)
call("fake_quantize_per_tensor_affine.tensor_qparams", T(2, 3), SCALE, ZERO, 0, 255)
call("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", T(2, 3), SCALE, ZERO,
     T(1, dt="i64", fill=1), -8, 7)
for op in ("fake_quantize_per_channel_affine", "fake_quantize_per_channel_affine_cachemask"):
    call(op, T(2, 3), T(3, fill=1), T(3, dt="i32"), 1, -127, 127)
    call(op, T(4, 3), T(4, fill=1), T(4, dt="i32"), 0, -127, 127)
