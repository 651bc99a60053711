/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters of Winograd's convolution as its products read them, in panels of as many outputs as a
 * kernel computes at once:
 *
 *   packed, a panel   | biases | plane 0: zeros, channels 0.. | plane 1: the same | ...
 *   kept, a panel     | biases | channel 0: 9 taps of all its outputs | channel 1 | ...
 *
 * A plane begins with the biases of its product, which are 0. What is kept is as large as the
 * filter of direct convolution, and is transformed in each run, which gives the same bits.
 *
 * A filter is [outputs][3][3][depth] with biases that may be null. Who calls owns all memory.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FILTERS_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FILTERS_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/winograd/transforms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Precondition of all below: panels have no more columns. */
#define WINOGRAD_MOST_COLUMNS 64

/* Floats of a plane of a panel, of a panel, and of all of them. */
size_t winograd_plane_floats(size_t depth, size_t columns);
size_t winograd_panel_floats(size_t planes, size_t depth, size_t columns);
size_t winograd_packed_floats(size_t planes, size_t depth, size_t outputs, size_t panel_columns);

/* Packs panels [first, first + count). False when what it makes is not finite: such filters need
 * direct convolution. */
bool winograd_pack(const struct winograd_transforms* transforms, size_t depth, size_t outputs,
                   size_t panel_columns, size_t first, size_t count, const float* filter,
                   const float* bias, float* packed);

/* The same of what is kept. */
size_t winograd_kept_panel_floats(size_t depth, size_t columns);
size_t winograd_kept_floats(size_t depth, size_t outputs, size_t panel_columns);
bool winograd_keep(size_t depth, size_t outputs, size_t panel_columns, size_t first, size_t count,
                   const float* filter, const float* bias, float* kept);

const float* winograd_taps(const float* kept_panel, size_t columns);

/* A row of planes of a packed panel, of a kept one. */
void winograd_make_row(const struct winograd_transforms* transforms, size_t depth, size_t columns,
                       const float* kept_panel, size_t row, float* planes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_FILTERS_H_ */
