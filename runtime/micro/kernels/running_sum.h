/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Sums of the elements up to each, along the middle dim of [OUTER, SIZE, INNER]. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t j = 0; j < INNER; ++j) {
      ARITHMETIC sum = (ARITHMETIC)0;
      for (int32_t i = 0; i < SIZE; ++i) {
        const int32_t at = (n * SIZE + i) * INNER + j;
        sum += LOAD_IN(in[at]);
        out[at] = STORE_OUT(sum);
      }
    }
  }
}
