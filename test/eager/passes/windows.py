# SPDX-License-Identifier: Apache-2.0
"""Functions of pools, resampling and volumes."""

import torch
import torch.nn.functional as F

from passes.traced import emit, rand


def pools(image, signal):
    emit("pools", lambda a: (
        F.max_pool2d(a, 3, 2, 1), F.max_pool2d(a, 2, ceil_mode=True, dilation=2),
        F.avg_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(a, 2, divisor_override=3), F.adaptive_avg_pool2d(a, 1),
        F.adaptive_avg_pool2d(a, 3), F.adaptive_avg_pool2d(a, 4), F.adaptive_max_pool2d(a, 2),
        F.max_pool2d(a[0], 2)), image)
    emit("pools_of_signals", lambda a: (
        F.max_pool1d(a, 3, 2), F.avg_pool1d(a, 2), F.adaptive_avg_pool1d(a, 3),
        F.adaptive_avg_pool1d(a, 1), F.adaptive_max_pool1d(a, 3)), signal)
    emit("unpooling", lambda a, s: (
        F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2),
        F.max_unpool2d(*F.max_pool2d(a[0], 2, 1, return_indices=True), 2, 1),
        F.max_unpool1d(*F.max_pool1d(s, 2, return_indices=True), 2)), image, signal)
    emit("pool_with_indices", lambda a: F.max_pool2d(a, 2, return_indices=True), image)
    emit("upsamples", lambda a, s: (
        F.interpolate(a, scale_factor=2), F.interpolate(a, size=(9, 7)),
        F.interpolate(a, scale_factor=1.5, mode="bilinear"),
        F.interpolate(a, size=(4, 11), mode="bilinear", align_corners=True),
        F.interpolate(s, scale_factor=2), F.interpolate(s, size=5, mode="linear")), image, signal)


def resampling(image, volume):
    for mode in ("bicubic", "nearest-exact"):
        emit("resample_" + mode.replace("-", "_"), lambda a: (
            F.interpolate(a, size=(7, 4), mode=mode), F.interpolate(a, scale_factor=1.7, mode=mode)),
            image)
    emit("resample_cubic_corners", lambda a: F.interpolate(
        a, size=(3, 9), mode="bicubic", align_corners=True), image)
    emit("resample_antialiased", lambda a: (
        F.interpolate(a, size=(2, 3), mode="bilinear", antialias=True),
        F.interpolate(a, size=(3, 8), mode="bicubic", antialias=True)), image)
    emit("resample_volumes", lambda a: (
        F.interpolate(a, size=(4, 3, 7), mode="trilinear"), F.interpolate(a, scale_factor=2),
        F.interpolate(a, size=(2, 5, 3), mode="trilinear", align_corners=True),
        F.interpolate(a, size=(5, 3, 2), mode="nearest-exact")), volume)
    emit("affine_grids", lambda a, c: (
        F.affine_grid(a, (2, 3, 4, 5), align_corners=False),
        F.affine_grid(a, (2, 3, 4, 1), align_corners=True),
        F.affine_grid(c, (1, 1, 2, 3, 4), align_corners=False)), rand(2, 2, 3), rand(1, 3, 4))


def volumes(image, volume):
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
