/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* The same as product_columns.h, of fewer columns than a vector has: all of a row are summed side
 * by side, so that none waits for another. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  (void)bias;
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t i = 0; i < ROWS; ++i) {
      const int32_t r = n * ROWS + i;
      SUM_TYPE sums[COLUMNS] = {0};
      for (int32_t k = 0; k < DEPTH; ++k) {
        const SUM_TYPE factor = LOAD_SUM(in[r * DEPTH + k]);
        PETREL_UNROLL
        for (int32_t c = 0; c < COLUMNS; ++c) {
          sums[c] += factor * LOAD_SUM(other[(n * DEPTH + k) * COLUMNS + c]);
        }
      }
      for (int32_t c = 0; c < COLUMNS; ++c) {
        const SUM_TYPE sum = sums[c];
        out[r * COLUMNS + c] = STORE_OUT(FINISH);
      }
    }
  }
}
