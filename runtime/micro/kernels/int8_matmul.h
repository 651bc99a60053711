/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level.h"

/* Matrices of ROWS by DEPTH and DEPTH by COLUMNS levels, in sums of int32. */
static void NAME(const IN_TYPE *in, const OTHER_TYPE *other, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCHES; ++n) {
    const OTHER_TYPE *with = other + n * DEPTH * COLUMNS;
    for (int32_t i = n * ROWS; i < (n + 1) * ROWS; ++i) {
      for (int32_t j = 0; j < COLUMNS; ++j) {
        int32_t sum = 0;
        for (int32_t k = 0; k < DEPTH; ++k) {
          sum += ((int32_t)in[i * DEPTH + k] - IN_ZERO) *
                 ((int32_t)with[k * COLUMNS + j] - OTHER_ZERO);
        }
        out[i * COLUMNS + j] =
            (OUT_TYPE)petrel_level((int64_t)sum * MULTIPLIER, SHIFT, OUT_ZERO, LEAST, MOST);
      }
    }
  }
}
