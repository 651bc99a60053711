/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Each channel of [BATCH, CHANNELS, INNER] less its mean, over its deviation, scaled and
 * shifted. */
static void NAME(const IN_TYPE *in, const IN_TYPE *weight, const IN_TYPE *bias, const IN_TYPE *mean,
                 const IN_TYPE *variance, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCH; ++n) {
    for (int32_t c = 0; c < CHANNELS; ++c) {
      const double root = sqrt(LOAD_IN(variance[c]) + EPSILON);
      const double scale = weight == NULL ? 1.0 : LOAD_IN(weight[c]);
      const double shift = bias == NULL ? 0.0 : LOAD_IN(bias[c]);
      for (int32_t i = 0; i < INNER; ++i) {
        const int32_t at = (n * CHANNELS + c) * INNER + i;
        out[at] = STORE_OUT((LOAD_IN(in[at]) - LOAD_IN(mean[c])) / root * scale + shift);
      }
    }
  }
}
