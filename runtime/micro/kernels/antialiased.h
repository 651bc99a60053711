/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/covered.h"
#include "runtime/micro/kernels/tokens.h"

/* Each element is the mean of all that it covers, weighted by a triangle as wide as the step from
 * one to the next. Scales of 0.0 are those of the sizes. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  const double row_step = petrel_covered_step(IN_HEIGHT, OUT_HEIGHT, ROW_SCALE, ALIGNS_CORNERS);
  const double step = petrel_covered_step(IN_WIDTH, OUT_WIDTH, COLUMN_SCALE, ALIGNS_CORNERS);
  const double row_reach = row_step > 1.0 ? row_step : 1.0;
  const double reach = step > 1.0 ? step : 1.0;
  const double row_inverse = 1.0 / row_reach;
  const double inverse = 1.0 / reach;
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const double row_center = row_step * ((double)p + 0.5);
      const int32_t first_row = petrel_covered_place(row_center - row_reach + 0.5, IN_HEIGHT);
      const int32_t end_row = petrel_covered_place(row_center + row_reach + 0.5, IN_HEIGHT);
      const double rows = petrel_covered_total(first_row, end_row, row_center, row_inverse);
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const double center = step * ((double)q + 0.5);
        const int32_t first = petrel_covered_place(center - reach + 0.5, IN_WIDTH);
        const int32_t end = petrel_covered_place(center + reach + 0.5, IN_WIDTH);
        double sum = 0.0;
        for (int32_t y = first_row; y < end_row; ++y) {
          const IN_TYPE *from = in + (n * IN_HEIGHT + y) * IN_WIDTH;
          double row = 0.0;
          for (int32_t x = first; x < end; ++x) {
            row += petrel_covered_weight(x, center, inverse) * LOAD_IN(from[x]);
          }
          sum += petrel_covered_weight(y, row_center, row_inverse) * row;
        }
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] =
            STORE_OUT(sum / (rows * petrel_covered_total(first, end, center, inverse)));
      }
    }
  }
}
