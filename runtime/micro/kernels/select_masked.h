/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* The elements of `in` that a mask names, where both are repeated to one size. Returns how many
 * there are, or -1 for more than MOST. */
static int32_t NAME(const IN_TYPE *in, const bool *mask, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t in_strides[] = IN_STRIDES;
  static const int32_t mask_strides[] = MASK_STRIDES;
  int32_t count = 0;
  for (int32_t i = 0; i < COUNT; ++i) {
    const bool is_set = mask[petrel_offset(i, RANK, sizes, mask_strides)];
    if (is_set && count >= MOST) {
      return -1;
    }
    if (is_set) {
      out[count] = in[petrel_offset(i, RANK, sizes, in_strides)];
      ++count;
    }
  }
  return count;
}
