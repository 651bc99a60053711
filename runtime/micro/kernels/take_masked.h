/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/tokens.h"

/* The slices of [OUTER, SIZE, INNER] that a mask names along the middle dim. Returns how many it
 * names, or -1 for more than MOST. */
static int32_t NAME(const IN_TYPE *in, const bool *mask, OUT_TYPE *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < SIZE; ++i) {
    count += mask[i] ? 1 : 0;
  }
  if (count > MOST) {
    return -1;
  }
  int32_t to = 0;
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t i = 0; i < SIZE; ++i) {
      if (mask[i]) {
        (void)memcpy(out + to * INNER, in + (n * SIZE + i) * INNER, (size_t)INNER * sizeof out[0]);
        ++to;
      }
    }
  }
  return count;
}
