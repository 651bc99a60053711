/* SPDX-License-Identifier: Apache-2.0
 *
 * Into how many parts the pixels of a batch are cut, and what they need for it while they are
 * normalised. It depends on sizes alone, so that sums do.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_NORM_SCRATCH_H_
#define PETREL_THIRD_PARTY_XNNPACK_NORM_SCRATCH_H_

#include <stdint.h>

/* Tasks, where there are fewer batches than that. */
#define PETREL_NORM_TASKS 16
/* Elements that a task has, or more. */
#define PETREL_NORM_TASK_ELEMENTS 8192

struct petrel_norm_parts {
  uint64_t parts;  /* of each batch */
  uint64_t pixels; /* of a part, but the last one */
};

static inline struct petrel_norm_parts petrel_cut_pixels(uint64_t batch, uint64_t pixels,
                                                         uint64_t channels) {
  const uint64_t most = batch >= PETREL_NORM_TASKS ? 1 : PETREL_NORM_TASKS / batch;
  const uint64_t least = (PETREL_NORM_TASK_ELEMENTS - 1) / channels + 1;
  const uint64_t equal = (pixels - 1) / most + 1;
  struct petrel_norm_parts cut = {1, equal > least ? equal : least};
  cut.parts = (pixels - 1) / cut.pixels + 1;
  return cut;
}

/* Bytes of a part for each group: two sums, a center and a factor. */
#define PETREL_NORM_GROUP_BYTES 24

#endif /* PETREL_THIRD_PARTY_XNNPACK_NORM_SCRATCH_H_ */
