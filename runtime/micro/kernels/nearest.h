/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Each row and column of a plane of the output is the nearest one of the input's, in single
 * precision as PyTorch computes it. Scales of 0.0 are those of the sizes. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  const double rows = (ROW_SCALE) > 0.0 ? (ROW_SCALE) : (double)IN_HEIGHT / (double)OUT_HEIGHT;
  const double columns =
      (COLUMN_SCALE) > 0.0 ? (COLUMN_SCALE) : (double)IN_WIDTH / (double)OUT_WIDTH;
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const int32_t near_row = (int32_t)floorf((float)p * (float)rows);
      const int32_t row = near_row < IN_HEIGHT ? near_row : IN_HEIGHT - 1;
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int32_t near_column = (int32_t)floorf((float)q * (float)columns);
        const int32_t column = near_column < IN_WIDTH ? near_column : IN_WIDTH - 1;
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = in[(n * IN_HEIGHT + row) * IN_WIDTH + column];
      }
    }
  }
}
