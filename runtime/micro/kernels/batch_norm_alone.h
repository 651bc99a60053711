/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Each channel of [BATCH, CHANNELS, INNER] less its own mean, over its own deviation, scaled and
 * shifted. */
static void NAME(const IN_TYPE *in, const IN_TYPE *weight, const IN_TYPE *bias, OUT_TYPE *out,
                 OUT_TYPE *means, OUT_TYPE *inverses) {
  const double count = (double)BATCH * (double)INNER;
  for (int32_t c = 0; c < CHANNELS; ++c) {
    const double scale = weight == NULL ? 1.0 : LOAD_IN(weight[c]);
    const double shift = bias == NULL ? 0.0 : LOAD_IN(bias[c]);
    double sum = 0.0;
    double squares = 0.0;
    for (int32_t n = 0; n < BATCH; ++n) {
      for (int32_t i = 0; i < INNER; ++i) {
        sum += LOAD_IN(in[(n * CHANNELS + c) * INNER + i]);
      }
    }
    const double mean = sum / count;
    for (int32_t n = 0; n < BATCH; ++n) {
      for (int32_t i = 0; i < INNER; ++i) {
        const double rest = LOAD_IN(in[(n * CHANNELS + c) * INNER + i]) - mean;
        squares += rest * rest;
      }
    }
    const double inverse = 1.0 / sqrt(squares / count + EPSILON);
    means[c] = STORE_OUT(mean);
    inverses[c] = STORE_OUT(inverse);
    for (int32_t n = 0; n < BATCH; ++n) {
      for (int32_t i = 0; i < INNER; ++i) {
        const int32_t at = (n * CHANNELS + c) * INNER + i;
        out[at] = STORE_OUT((LOAD_IN(in[at]) - mean) * inverse * scale + shift);
      }
    }
  }
}
