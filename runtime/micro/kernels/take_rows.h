/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/tokens.h"

/* The slices of [OUTER, SIZE, INNER] that `indices` name along the middle dim. Returns 0, or 1
 * when one is not in [0, SIZE). */
static int32_t NAME(const IN_TYPE *in, const INDEX_TYPE *indices, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t i = 0; i < COUNT; ++i) {
      const int64_t index = (int64_t)indices[i];
      if (index < 0 || index >= SIZE) {
        return 1;
      }
      (void)memmove(out + (n * COUNT + i) * INNER, in + (n * SIZE + (int32_t)index) * INNER,
                    (size_t)INNER * sizeof out[0]);
    }
  }
  return 0;
}
