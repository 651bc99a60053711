/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Rows of a table of levels, WIDTH bytes each, as what they stand for, with a scale and perhaps a
 * zero point for each GROUP of the COLUMNS of a row. Returns 0, or 1 when an index is not in
 * [0, SIZE). */
static int32_t NAME(const IN_TYPE *table, const SCALE_TYPE *scales, const ZERO_TYPE *zeros,
                    const INDEX_TYPE *indices, OUT_TYPE *out) {
  for (int32_t i = 0; i < COUNT; ++i) {
    const int64_t index = (int64_t)indices[i];
    if (index < 0 || index >= SIZE) {
      return 1;
    }
    const IN_TYPE *row = table + (int32_t)index * WIDTH;
    for (int32_t k = 0; k < COLUMNS; ++k) {
      const int32_t g = (int32_t)index * (COLUMNS / GROUP) + k / GROUP;
      const double zero = zeros == NULL ? 0.0 : LOAD_ZERO(zeros[g]);
      const double level = (double)(EXPRESSION);
      out[i * COLUMNS + k] = STORE_OUT(ROUND(ROUND(level - zero) * LOAD_SCALE(scales[g])));
    }
  }
  return 0;
}
