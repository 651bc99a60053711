/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/rounded.h"
#include "runtime/micro/math/to_integer.h"

/* The scale and the zero point with which levels from LEAST to MOST reach all elements, and 0. */
static void NAME(const IN_TYPE *in, double *scale, int64_t *zero, int32_t count) {
  double low = 0.0;
  double high = 0.0;
  for (int32_t i = 0; i < count && low == low; ++i) {
    const double x = LOAD_IN(in[i]);
    low = x != x || x < low ? x : low;
    high = x != x || x > high ? x : high;
  }
  const double step = ROUND(ROUND(high - low) / (MOST - LEAST));
  scale[0] = step < LEAST_STEP ? LEAST_STEP : step;
  const double below = petrel_rounded(ROUND(low / scale[0]));
  const double place = LEAST - (double)petrel_to_integer(below);
  zero[0] = petrel_to_integer(place < LEAST ? LEAST : place > MOST ? MOST : place);
}
