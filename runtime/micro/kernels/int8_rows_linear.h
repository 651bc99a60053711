/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/dots.h"
#include "runtime/micro/kernels/tokens.h"

/* Rows of levels by the COLUMNS rows of a weight, four at once and the rest one by one; offsets
 * are biases with what the zero point of the input adds. */
static void NAME(const int8_t *in, const int8_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, int8_t *out) {
  for (int32_t i = 0; i < ROWS; ++i) {
    const int8_t *from = in + i * DEPTH;
    int32_t count = 4;
    for (int32_t j = 0; j < COLUMNS; j += count) {
      if (COLUMNS - j < 4) {
        count = 1;
      }
      int32_t sums[4] = {0, 0, 0, 0};
      if (count == 4) {
        petrel_add_dots(from, weight + j * DEPTH, DEPTH, sums);
      } else {
        for (int32_t k = 0; k < DEPTH; ++k) {
          sums[0] += from[k] * weight[j * DEPTH + k];
        }
      }
      for (int32_t k = 0; k < count; ++k) {
        out[i * COLUMNS + j + k] = (int8_t)TO_LEVEL(offset[j + k] + sums[k], multiplier[j + k],
                                                    shift[j + k], OUT_ZERO, LEAST, MOST);
      }
    }
  }
}
