/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Each row and column of a plane of the output is a row and column of the input's. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t rows[] = ROW_PLACES;
  static const int32_t columns[] = COLUMN_PLACES;
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] =
            in[(n * IN_HEIGHT + rows[p]) * IN_WIDTH + columns[q]];
      }
    }
  }
}
