/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* What lies on and below a diagonal of each [ROWS, COLUMNS], and 0 above. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t i = 0; i < ROWS; ++i) {
      for (int32_t j = 0; j < COLUMNS; ++j) {
        const int32_t at = (n * ROWS + i) * COLUMNS + j;
        out[at] = j - i <= DIAGONAL ? in[at] : STORE_OUT(0);
      }
    }
  }
}
