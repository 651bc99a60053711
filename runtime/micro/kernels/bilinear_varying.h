/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/between.h"
#include "runtime/micro/kernels/tokens.h"

/* As bilinear, where sizes tell the places and weights. Scales of 0.0 are those of the sizes. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const double y = petrel_between(p, IN_HEIGHT, OUT_HEIGHT, ROW_SCALE, ALIGNS_CORNERS);
      const int32_t row = (int32_t)y < IN_HEIGHT ? (int32_t)y : IN_HEIGHT - 1;
      const int32_t next_row = row + 1 < IN_HEIGHT ? row + 1 : row;
      const double h = y - (double)row;
      const IN_TYPE *low = in + (n * IN_HEIGHT + row) * IN_WIDTH;
      const IN_TYPE *high = in + (n * IN_HEIGHT + next_row) * IN_WIDTH;
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const double x = petrel_between(q, IN_WIDTH, OUT_WIDTH, COLUMN_SCALE, ALIGNS_CORNERS);
        const int32_t column = (int32_t)x < IN_WIDTH ? (int32_t)x : IN_WIDTH - 1;
        const int32_t next_column = column + 1 < IN_WIDTH ? column + 1 : column;
        const double w = x - (double)column;
        const double top = LOAD_IN(low[column]) * (1.0 - w) + LOAD_IN(low[next_column]) * w;
        const double bottom = LOAD_IN(high[column]) * (1.0 - w) + LOAD_IN(high[next_column]) * w;
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = STORE_OUT(top * (1.0 - h) + bottom * h);
      }
    }
  }
}
