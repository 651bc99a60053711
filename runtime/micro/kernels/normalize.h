/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Groups of COUNT elements less their mean, over their deviation, and then scaled and
 * shifted: each element by its own weight where REPEATED is 1, else REPEATED neighbours by one.
 * Weights begin anew after CYCLE groups. */
static void NAME(const IN_TYPE *in, const IN_TYPE *weight, const IN_TYPE *bias, OUT_TYPE *out,
                 OUT_TYPE *means, OUT_TYPE *deviations) {
  for (int32_t g = 0; g < GROUPS; ++g) {
    const IN_TYPE *elements = in + g * COUNT;
    double sum = 0.0;
    for (int32_t i = 0; i < COUNT; ++i) {
      sum += LOAD_IN(elements[i]);
    }
    const double mean = sum / (double)COUNT;
    double squares = 0.0;
    for (int32_t i = 0; i < COUNT; ++i) {
      const double d = LOAD_IN(elements[i]) - mean;
      squares += d * d;
    }
    const double inverse = 1.0 / sqrt(squares / (double)COUNT + EPSILON);
    means[g] = STORE_OUT(mean);
    deviations[g] = STORE_OUT(inverse);
    for (int32_t i = 0; i < COUNT; ++i) {
      const int32_t w = g % CYCLE * (COUNT / REPEATED) + i / REPEATED;
      const double scale = weight == NULL ? 1.0 : LOAD_IN(weight[w]);
      const double shift = bias == NULL ? 0.0 : LOAD_IN(bias[w]);
      out[g * COUNT + i] = STORE_OUT((LOAD_IN(elements[i]) - mean) * inverse * scale + shift);
    }
  }
}
