/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/padded_place.h"
#include "runtime/micro/kernels/tokens.h"

/* Padding of planes by their own elements, mirrored or those at the edge. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const int32_t row = petrel_padded_place(p - TOP, IN_HEIGHT, REFLECTS);
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int32_t column = petrel_padded_place(q - LEFT, IN_WIDTH, REFLECTS);
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = in[(n * IN_HEIGHT + row) * IN_WIDTH + column];
      }
    }
  }
}
