/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* The mean of `count` elements, and the sum of the squares of what they differ from it by. */
static inline void NAME_ONE(const IN_TYPE *in, int32_t count, double *means, double *squares) {
  double sum = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    sum += LOAD_IN(in[i]);
  }
  const double mean = sum / (double)count;
  sum = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    const double d = LOAD_IN(in[i]) - mean;
    sum += d * d;
  }
  *means = mean;
  *squares = sum;
}

#if PETREL_LANES > 1
/* The same of four groups that follow one another, side by side, each in its own order. */
static inline void NAME_FOUR(const IN_TYPE *in, int32_t count, double *means, double *squares) {
  const IN_TYPE *second = in + count;
  const IN_TYPE *third = second + count;
  const IN_TYPE *fourth = third + count;
  double a = 0.0;
  double b = 0.0;
  double c = 0.0;
  double d = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    a += LOAD_IN(in[i]);
    b += LOAD_IN(second[i]);
    c += LOAD_IN(third[i]);
    d += LOAD_IN(fourth[i]);
  }
  means[0] = a / (double)count;
  means[1] = b / (double)count;
  means[2] = c / (double)count;
  means[3] = d / (double)count;
  a = 0.0;
  b = 0.0;
  c = 0.0;
  d = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    const double e = LOAD_IN(in[i]) - means[0];
    const double f = LOAD_IN(second[i]) - means[1];
    const double g = LOAD_IN(third[i]) - means[2];
    const double h = LOAD_IN(fourth[i]) - means[3];
    a += e * e;
    b += f * f;
    c += g * g;
    d += h * h;
  }
  squares[0] = a;
  squares[1] = b;
  squares[2] = c;
  squares[3] = d;
}
#endif

/* Groups of COUNT elements less their mean, over their deviation, and then scaled and
 * shifted: each element by its own weight where REPEATED is 1, else REPEATED neighbours by one.
 * Weights begin anew after CYCLE groups. */
static void NAME(const IN_TYPE *in, const IN_TYPE *weight, const IN_TYPE *bias, OUT_TYPE *out,
                 OUT_TYPE *means, OUT_TYPE *deviations) {
  double some_means[4];
  double squares[4];
  for (int32_t g = 0; g < GROUPS; ++g) {
    int32_t place = 0; /* of the group among those that were summed side by side */
#if PETREL_LANES > 1
    const bool is_of_four = g < GROUPS / 4 * 4;
    place = is_of_four ? g % 4 : 0;
    if (is_of_four && place == 0) {
      NAME_FOUR(in + g * COUNT, COUNT, some_means, squares);
    }
    if (!is_of_four) {
      NAME_ONE(in + g * COUNT, COUNT, some_means, squares);
    }
#else
    NAME_ONE(in + g * COUNT, COUNT, some_means, squares);
#endif
    const double mean = some_means[place];
    const double inverse = 1.0 / sqrt(squares[place] / (double)COUNT + EPSILON);
    means[g] = STORE_OUT(mean);
    deviations[g] = STORE_OUT(inverse);
    for (int32_t i = 0; i < COUNT; ++i) {
      const int32_t w = g % CYCLE * (COUNT / REPEATED) + i / REPEATED;
      const double scale = weight == NULL ? 1.0 : LOAD_IN(weight[w]);
      const double shift = bias == NULL ? 0.0 : LOAD_IN(bias[w]);
      out[g * COUNT + i] = STORE_OUT((LOAD_IN(in[g * COUNT + i]) - mean) * inverse * scale + shift);
    }
  }
}
