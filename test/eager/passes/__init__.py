# SPDX-License-Identifier: Apache-2.0
"""Small functions, their traces and their results.

All draw from one generator in the order below, so what is added last changes no
other case.
"""

import math

import torch

from passes import (combined, composites, elementwise, groups, losses, moving, ordering, products,
                    quantized, recurrent, samples, second_names, small_matrices, windows)
from passes.traced import CASES, rand


def record():
    torch.manual_seed(0)
    x, image, signal = rand(2, 3, 4), rand(1, 4, 6, 6), rand(1, 4, 9)
    special = torch.tensor([-math.inf, -2.5, -0.0, 0.5, 3.0, math.inf, math.nan])
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    moving.writes(x)
    moving.views(x, image)
    products.products(x)
    products.convolutions(image, signal)
    elementwise.norms(x)
    windows.pools(image, signal)
    elementwise.activations(x, special)
    elementwise.attention_of(mask)
    elementwise.arithmetic(x, special)
    elementwise.reductions(x)
    moving.factories(x)
    moving.indexing(x)
    recurrent.layers()
    ordering.orders(x)
    image, volume = rand(1, 2, 5, 6), rand(1, 2, 3, 4, 5)
    windows.resampling(image, volume)
    windows.volumes(image, volume)
    composites.composites(x, image, volume, special)
    composites.bags()
    composites.other_names()
    second_names.names()
    second_names.products()
    losses.losses()
    quantized.blocks()
    elementwise.extremes()
    combined.parts()
    combined.statistics()
    combined.others()
    small_matrices.matrices()
    small_matrices.sums()
    small_matrices.windows()
    small_matrices.grids()
    small_matrices.splits_and_diagonals()
    samples.derivatives()
    samples.lists()
    samples.numbers()
    samples.others()
    samples.halves()
    small_matrices.factors()
    samples.rare_functions()
    groups.products()
    groups.histograms()
    second_names.truths()
    quantized.rounding()
    small_matrices.core_factors()
    products.encoder_layers()
    quantized.around_zero()
    return CASES
