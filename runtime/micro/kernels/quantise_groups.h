/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/rounded.h"

/* out[i] = the level nearest to in[i], with a scale and a zero point for each of COUNT along the
 * middle of [OUTER, COUNT, INNER]; each step is rounded. */
static void NAME(const IN_TYPE *in, const SCALE_TYPE *scales, const ZERO_TYPE *zeros,
                 OUT_TYPE *out) {
  for (int32_t o = 0; o < OUTER; ++o) {
    for (int32_t g = 0; g < COUNT; ++g) {
      const double inverse = ROUND_SCALE(1.0 / LOAD_SCALE(scales[g]));
      const double zero = LOAD_ZERO(zeros[g]);
      for (int32_t i = 0; i < INNER; ++i) {
        const int32_t k = (o * COUNT + g) * INNER + i;
        const double steps = ROUND(ROUND_IN(LOAD_IN(in[k])) * inverse);
        const double level = LEVEL;
        out[k] = STORE_OUT(level < LEAST ? LEAST : level > MOST ? MOST : level);
      }
    }
  }
}
