/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Each row of a plane of the output lies between two rows of the input's, and so do columns;
 * the weights are those of the second one. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t rows[] = ROW_PLACES;
  static const int32_t next_rows[] = NEXT_ROW_PLACES;
  static const double row_weights[] = ROW_WEIGHTS;
  static const int32_t columns[] = COLUMN_PLACES;
  static const int32_t next_columns[] = NEXT_COLUMN_PLACES;
  static const double column_weights[] = COLUMN_WEIGHTS;
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const IN_TYPE *low = in + (n * IN_HEIGHT + rows[p]) * IN_WIDTH;
      const IN_TYPE *high = in + (n * IN_HEIGHT + next_rows[p]) * IN_WIDTH;
      const double h = row_weights[p];
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const double w = column_weights[q];
        const double top = LOAD_IN(low[columns[q]]) * (1.0 - w) + LOAD_IN(low[next_columns[q]]) * w;
        const double bottom =
            LOAD_IN(high[columns[q]]) * (1.0 - w) + LOAD_IN(high[next_columns[q]]) * w;
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = STORE_OUT(top * (1.0 - h) + bottom * h);
      }
    }
  }
}
