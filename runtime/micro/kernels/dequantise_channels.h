/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out = in with a scale for each of CHANNELS along the middle of OUTER, CHANNELS, INNER. */
static void NAME(const IN_TYPE *in, const SCALE_TYPE *scales, OUT_TYPE *out) {
  for (int32_t o = 0; o < OUTER; ++o) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      const double scale = LOAD_SCALE(scales[c]);
      for (int32_t i = 0; i < INNER; ++i) {
        const double level = (double)(float)LOAD_IN(*in++);
        *out++ = STORE_OUT(level * scale);
      }
    }
  }
}
