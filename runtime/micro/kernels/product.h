/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out = ALPHA in other, matrices of ROWS by DEPTH and DEPTH by COLUMNS; sums run over the
 * depth, ascending. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t i = 0; i < ROWS; ++i) {
      for (int32_t j = 0; j < COLUMNS; ++j) {
        ARITHMETIC sum = (ARITHMETIC)0;
        for (int32_t k = 0; k < DEPTH; ++k) {
          sum += LOAD_IN(in[(n * ROWS + i) * DEPTH + k]) *
                 LOAD_IN(other[n * DEPTH * COLUMNS + k * DEPTH_STRIDE + j * COLUMN_STRIDE]);
        }
        out[(n * ROWS + i) * COLUMNS + j] = STORE_OUT(FINISH);
      }
    }
  }
}
