# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions of few outputs, which become convolutions and a shuffle."""

import torch.nn.functional as F

from xnnpack.convolutions import conv
from xnnpack.graphs import rand

one, zero = [1, 1], [0, 0]
relu6 = ("y", "aten.hardtanh.default(%c, 0, 6)", lambda v: F.hardtanh(v["c"], 0, 6))


def shuffled(name, x, w, b, stride, padding, output_padding=(0, 0), then=()):
    conv("conv_shuffled_" + name, x, w, b, stride, padding, one, transposed=True,
         output_padding=list(output_padding), then=list(then))


shuffled("9x9", rand(1, 3, 4, 5), rand(3, 1, 9, 9), rand(1), [3, 3], [3, 3])
shuffled("9x9_uneven", rand(1, 3, 4, 5), rand(3, 1, 9, 9), rand(1), [3, 3], [4, 4], (1, 2))
shuffled("4x4", rand(2, 5, 3, 4), rand(5, 3, 4, 4), rand(3), [2, 2], one)
shuffled("4x4_whole", rand(2, 5, 3, 4), rand(5, 1, 4, 4), None, [2, 2], zero)
shuffled("8x4", rand(1, 4, 3, 2), rand(4, 2, 8, 4), rand(2), [4, 2], [2, 1])
shuffled("4x4_of_one_axis", rand(1, 4, 3, 2), rand(4, 1, 4, 3), rand(1), [2, 1], [1, 0])
shuffled("relu6", rand(1, 4, 3, 3), rand(4, 1, 4, 4) * 4, rand(1), [2, 2], one, then=[relu6])
