# SPDX-License-Identifier: Apache-2.0
"""Calls of out-variants and the results of eager torch.

All draw from one generator in the order below, so what is added last changes no
other case.
"""

import torch

from kernels import attention, decoder, edge, element_type, elementwise, int8, moving, quantized, summing, window
from kernels.calls import CASES

SECTIONS = (
    elementwise.one_operand,
    elementwise.two_operands,
    summing.matrices,
    window.convolutions,
    window.windows,
    summing.norms,
    summing.reductions,
    moving.rearrangements,
    moving.chosen_elements,
    moving.made_from_nothing,
    elementwise.clamps_and_gates,
    summing.distances,
    moving.masks_and_counts,
    summing.variances,
    window.volumes_and_samples,
    moving.copies_of_blocks,
    attention.attention,
    element_type.halves,
    element_type.integers,
    element_type.conversions,
    moving.rolls_and_crops,
    summing.orders,
    edge.edges_of_functions,
    edge.doubles_and_small_integers,
    edge.chosen_by_index,
    edge.products_of_other_types,
    edge.transposed_windows,
    quantized.per_tensor,
    quantized.per_group,
    quantized.chosen_parameters,
    quantized.tables,
    quantized.mixed,
    int8.record,
    summing.norms_of_nothing,
    decoder.caches,
    decoder.attention,
    decoder.of_levels,
    decoder.transforms,
    edge.what_is_not_a_number,
    edge.rounded_operands,
    edge.scalars_as_lists,
    window.convolutions_of_integers,
    window.windows_that_hang_over,
)


def record():
    torch.manual_seed(7)
    for section in SECTIONS:
        section()
    return CASES
