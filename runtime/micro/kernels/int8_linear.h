/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level.h"

/* Rows of levels by the COLUMNS rows of a weight around 0, in sums of int32. */
static void NAME(const IN_TYPE *in, const int8_t *weight, const int32_t *bias,
                 const int32_t *multiplier, const int8_t *shift, OUT_TYPE *out) {
  for (int32_t i = 0; i < ROWS; ++i) {
    const IN_TYPE *from = in + i * DEPTH;
    for (int32_t j = 0; j < COLUMNS; ++j) {
      const int8_t *with = weight + j * DEPTH;
      int32_t sum = bias == NULL ? 0 : bias[j];
      for (int32_t k = 0; k < DEPTH; ++k) {
        sum += ((int32_t)from[k] - IN_ZERO) * with[k];
      }
      out[i * COLUMNS + j] =
          (OUT_TYPE)petrel_level((int64_t)sum * multiplier[j], shift[j], OUT_ZERO, LEAST, MOST);
    }
  }
}
