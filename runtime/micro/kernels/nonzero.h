/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The indices of elements that are not zero, RANK numbers for each. Returns how many there are, or
 * -1 for more than MOST. */
static int32_t NAME(const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  int32_t count = 0;
  for (int32_t i = 0; i < COUNT; ++i) {
    const bool is_set = STORE_OUT(LOAD_IN(in[i]));
    if (is_set && count >= MOST) {
      return -1;
    }
    if (is_set) {
      int32_t left = i;
      for (int32_t d = RANK - 1; d >= 0; --d) {
        out[count * RANK + d] = (OUT_TYPE)(left % sizes[d]);
        left /= sizes[d];
      }
      ++count;
    }
  }
  return count;
}
