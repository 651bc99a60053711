/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Padding of planes by their own elements, mirrored or those at the edge. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      int32_t row = p - TOP;
      if (REFLECTS != 0) {
        row = row < 0 ? -row : row;
        row = row >= IN_HEIGHT ? 2 * (IN_HEIGHT - 1) - row : row;
      }
      row = row >= IN_HEIGHT ? IN_HEIGHT - 1 : row;
      row = row < 0 ? 0 : row;
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        int32_t column = q - LEFT;
        if (REFLECTS != 0) {
          column = column < 0 ? -column : column;
          column = column >= IN_WIDTH ? 2 * (IN_WIDTH - 1) - column : column;
        }
        column = column >= IN_WIDTH ? IN_WIDTH - 1 : column;
        column = column < 0 ? 0 : column;
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = in[(n * IN_HEIGHT + row) * IN_WIDTH + column];
      }
    }
  }
}
