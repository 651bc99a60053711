# SPDX-License-Identifier: Apache-2.0
"""Calls of convolutions, pools, resampling and normalisation."""

from inference.calls import I, T, call

# Convolutions and pools.
call("conv1d", T(1, 4, 9), T(6, 4, 3), T(6), [2], [1])
call("conv1d.padding", T(1, 4, 9), T(6, 4, 3), None, [1], "same")
call("conv2d", T(1, 4, 9, 8), T(6, 2, 3, 3), T(6), [2, 1], [1, 0], [1, 2], 2)
call("conv2d", T(4, 9, 8), T(6, 4, 1, 1))
call("conv2d.padding", T(1, 4, 9, 8), T(4, 1, 3, 2), None, [1, 1], "same",
     [2, 2], 4)
call("conv2d.padding", T(1, 4, 9, 8), T(4, 4, 3, 2), None, [2, 2], "valid")
call("conv3d", T(1, 2, 5, 6, 7), T(3, 2, 2, 2, 2))
call("conv3d.padding", T(1, 2, 5, 6, 7), T(3, 2, 2, 2, 2), None, [1, 1, 1],
     "same")
call("conv_transpose1d", T(1, 4, 5), T(4, 3, 3), T(3), [2], [1], [1])
call("conv_transpose2d.input", T(1, 4, 5, 6), T(4, 2, 3, 3), T(4), [2, 2],
     [1, 1], [1, 0], 2, [1, 2])
call("conv_transpose3d.input", T(1, 4, 5, 6, 7), T(4, 2, 2, 2, 2))
call("convolution", T(1, 4, 9, 8), T(6, 2, 3, 3), T(6), [2, 2], [1, 1], [1, 1],
     False, [0, 0], 2)
call("convolution", T(1, 4, 5, 6), T(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1],
     True, [1, 1], 2)
call("max_unpool2d", T(2, 3, 4, 5), I(2, 3, 4, 5), [8, 11])
call("max_unpool3d", T(3, 2, 2, 2), I(3, 2, 2, 2), [4, 5, 4], [2, 2, 2], [0, 0, 0])
for op in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d"):
    call(op, T(1, 2, 9, 8), [3, 3], [2, 2], [1, 1])
    call(op, T(2, 9, 8), [3, 2])
    call(op, T(1, 2, 7, 7), [3, 3], [2, 2], [0, 0], ceil_mode=True)
    call(op, T(1, 2, 8, 8), [3, 3], [2, 2], [1, 1], ceil_mode=True)
    call(op, T(1, 2, 5, 5), [2, 2], [4, 4], [1, 1], ceil_mode=True)
for op in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d"):
    call(op, T(1, 2, 2, 3), [3, 4], [2, 3], [0, 1], ceil_mode=True)
for op in ("max_pool1d", "max_pool1d_with_indices", "avg_pool1d"):
    call(op, T(1, 2, 9), [3], [2], [1])
for op in ("max_pool3d", "max_pool3d_with_indices", "avg_pool3d"):
    call(op, T(1, 2, 9, 8, 7), [3, 3, 3], [2, 2, 2], [1, 1, 1])
call("max_pool2d", T(1, 2, 9, 8), [2, 2], [1, 1], [0, 0], [3, 2])
call("adaptive_avg_pool1d", T(1, 2, 9), [4])
for op in ("adaptive_avg_pool2d", "_adaptive_avg_pool2d",
           "adaptive_max_pool2d"):
    call(op, T(1, 2, 9, 8), [4, 1])
for op in ("adaptive_avg_pool3d", "_adaptive_avg_pool3d",
           "adaptive_max_pool3d"):
    call(op, T(1, 2, 9, 8, 7), [4, 1, 2])
call("adaptive_max_pool1d", T(1, 2, 9), [4])

# Resampling.
for kind, sizes in [("linear1d", (7,)), ("bilinear2d", (7, 5)),
                    ("bicubic2d", (7, 5)), ("trilinear3d", (7, 5, 3))]:
    name = "upsample_" + kind
    factors = [1.5] * len(sizes)
    call(name, T(1, 2, *sizes), [3] * len(sizes), True)
    call(name + ".vec", T(1, 2, *sizes), [3] * len(sizes), False, None)
    call(name + ".vec", T(1, 2, *sizes), None, False, factors)
for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
    call(name, T(1, 2, 7, 5), [3, 3], True)
    call(name + ".vec", T(1, 2, 7, 5), None, False, [0.7, 0.5])
for prefix in ("upsample_nearest", "_upsample_nearest_exact"):
    for n in (1, 2, 3):
        call(f"{prefix}{n}d", T(1, 2, *[5] * n), [8] * n)
        call(f"{prefix}{n}d.vec", T(1, 2, *[5] * n), None, [2.0] * n)
for op in ("grid_sampler", "grid_sampler_2d"):
    call(op, T(1, 2, 5, 6), T(1, 3, 4, 2), 0, 0, False)
call("grid_sampler_3d", T(1, 2, 5, 6, 7), T(1, 3, 4, 2, 3), 0, 0, False)
call("affine_grid_generator", T(2, 2, 3), [2, 1, 4, 5], False)
call("affine_grid_generator", T(2, 3, 4), [2, 1, 4, 5, 6], False)

# Normalisation.
call("batch_norm", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1), False, 0.1,
     1e-5, True)
call("batch_norm", T(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, True)
call("instance_norm", T(2, 3, 4), None, None, None, None, True, 0.1, 1e-5,
     True)
call("_native_batch_norm_legit_no_training", T(2, 3, 4), T(3), T(3), T(3),
     T(3, fill=1), 0.1, 1e-5)
call("_native_batch_norm_legit", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1),
     False, 0.1, 1e-5)
call("_native_batch_norm_legit", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1),
     True, 0.1, 1e-5)
call("_native_batch_norm_legit.no_stats", T(2, 3, 4), None, None, True, 0.0,
     1e-5)
call("native_batch_norm", T(2, 3, 4), T(3), T(3), T(3), T(3, fill=1), False,
     0.1, 1e-5)
call("native_batch_norm", T(2, 3, 4), T(3), T(3), None, None, True, 0.1, 1e-5)
call("layer_norm", T(2, 3, 4), [3, 4], T(3, 4), T(3, 4))
call("layer_norm", T(2, 4), [4])
call("native_layer_norm", T(2, 3, 4), [4], T(4), T(4), 1e-5)
call("native_layer_norm", T(2, 3, 4), [3, 4], None, None, 1e-5)
call("native_layer_norm", T(2, 4, dt="f16"), [4], T(4, dt="f16"), None, 1e-5)
call("native_layer_norm", T(2, 4, dt="bf16"), [4], T(4), T(4), 1e-5)
call("group_norm", T(2, 6, 4), 3, T(6), T(6))
call("native_group_norm", T(2, 6, 4), T(6), T(6), 2, 6, 4, 3, 1e-5)
call("native_group_norm", T(2, 6, 4, dt="f16"), T(6, dt="f16"), None, 2, 6, 4, 3, 1e-5)
call("native_group_norm", T(2, 6, 4, dt="f16"), None, None, 2, 6, 4, 3, 1e-5)
call("native_batch_norm", T(2, 3, 4, dt="f16"), T(3, dt="f16"), None, None, None, True, 0.1, 1e-5)
call("native_batch_norm", T(2, 3, 4, dt="f16"), T(3), T(3), None, None, True, 0.1, 1e-5)
call("_fused_rms_norm", T(2, 4, dt="f16"), [4], T(4, dt="f16"), 1e-5)
call("rms_norm", T(2, 4), [4], T(4))
call("_fused_rms_norm", T(2, 3, 4), [4], T(4), 1e-5)
call("_weight_norm", T(4, 3), T(4, 1))
call("_weight_norm_interface", T(4, 3), T(4, 1))
