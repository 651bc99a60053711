/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* What each level stands for, with a scale and perhaps a zero point for each of COUNT along the
 * middle of [OUTER, COUNT, INNER]; each step is rounded. */
static void NAME(const IN_TYPE *in, const SCALE_TYPE *scales, const ZERO_TYPE *zeros,
                 OUT_TYPE *out) {
  for (int32_t o = 0; o < OUTER; ++o) {
    for (int32_t g = 0; g < COUNT; ++g) {
      const double scale = ROUND_SCALE(LOAD_SCALE(scales[g]));
      const double zero = zeros == NULL ? 0.0 : LOAD_ZERO(zeros[g]);
      for (int32_t i = 0; i < INNER; ++i) {
        const int32_t k = (o * COUNT + g) * INNER + i;
        const double steps = ROUND(WRAP(ROUND_IN(LOAD_IN(in[k])) - zero));
        out[k] = STORE_OUT(ROUND(steps * scale));
      }
    }
  }
}
