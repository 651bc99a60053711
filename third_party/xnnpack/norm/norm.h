/* SPDX-License-Identifier: Apache-2.0
 *
 * A node that normalises: what a file says in nine nodes, and reads and writes seven times, in one.
 *
 *   y = (x - mean) / sqrt(variance + epsilon) * weight + bias
 *
 *   x  [batch..., pixels..., groups * c]     one mean and one variance for each batch and group,
 *       0          ^axis                      over pixels and c
 *
 *   axis = rank - 1, groups = 1              layer norm: the batch are rows
 *   axis = 1                                 group norm with channels last
 *
 *   const struct petrel_norm norm = {.axis = 1, .groups = 8, .channels = 64, .epsilon = 1e-5f};
 *   petrel_define_norm(subgraph, &norm, x, weight, bias, y);
 *
 * Threads share rows, or the pixels of a batch, whose sums are added up in the same order
 * whatever their number is: results are the same bits. Batch and pixels may vary.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_NORM_NORM_H_
#define PETREL_THIRD_PARTY_XNNPACK_NORM_NORM_H_

#include <stddef.h>
#include <stdint.h>

#include "xnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct petrel_norm {
  size_t axis;     /* the first one that is normalised, or behind those that are not */
  size_t groups;   /* of channels, 1 or more */
  size_t channels; /* the last size, a multiple of `groups` */
  float epsilon;
};

/* Weight and bias, constants of `channels` floats, may be XNN_INVALID_VALUE_ID. */
enum xnn_status petrel_define_norm(xnn_subgraph_t subgraph, const struct petrel_norm* norm,
                                   uint32_t x, uint32_t weight, uint32_t bias, uint32_t y);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_NORM_NORM_H_ */
