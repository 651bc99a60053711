/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/float_total.h"
#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* The sum of what `count` elements differ by from `mean`, or of the squares of that. */
static inline float NAME_SUM(const IN_TYPE *in, int32_t count, float mean, bool squared) {
  float sum = 0.0f;
  int32_t i = 0;
#if PETREL_LANES > 1
  petrel_float_lanes lanes = {0};
  for (; i + PETREL_FLOAT_LANES <= count; i += PETREL_FLOAT_LANES) {
    const petrel_float_lanes d = petrel_load_floats(in + i) - mean;
    lanes += squared ? d * d : d;
  }
  sum = petrel_float_total(lanes);
#endif
  for (; i < count; ++i) {
    const float d = in[i] - mean;
    sum += squared ? d * d : d;
  }
  return sum;
}

/* The same as normalize.h, of floats in floats. The mean is that of what elements differ by from
 * the first one, so that no digits are lost where all are alike. */
static void NAME(const IN_TYPE *in, const IN_TYPE *weight, const IN_TYPE *bias, OUT_TYPE *out,
                 OUT_TYPE *means, OUT_TYPE *deviations) {
  for (int32_t g = 0; g < GROUPS; ++g) {
    const IN_TYPE *from = in + g * COUNT;
    const float mean = from[0] + NAME_SUM(from, COUNT, from[0], false) / (float)COUNT;
    const float squares = NAME_SUM(from, COUNT, mean, true);
    const float inverse = 1.0f / sqrtf(squares / (float)COUNT + (float)EPSILON);
    means[g] = mean;
    deviations[g] = inverse;
    for (int32_t i = 0; i < COUNT; ++i) {
      const int32_t w = g % CYCLE * (COUNT / REPEATED) + i / REPEATED;
      const float scale = weight == NULL ? 1.0f : weight[w];
      const float shift = bias == NULL ? 0.0f : bias[w];
      out[g * COUNT + i] = (from[i] - mean) * inverse * scale + shift;
    }
  }
}
