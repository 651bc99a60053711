/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LOG_H_
#define PETREL_RUNTIME_MICRO_MATH_LOG_H_

#include <math.h>

#include "runtime/micro/math/constants.h"

/* The natural logarithm: NaN below 0, -inf at 0. */
static double petrel_log(double x) {
  if (x != x || x < 0.0) {
    return PETREL_NAN;
  }
  if (x == 0.0) {
    return -PETREL_INFINITY;
  }
  if (x == PETREL_INFINITY) {
    return x;
  }
  int exponent = 0;
  double m = frexp(x, &exponent); /* m in [0.5, 1) */
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  /* ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172. */
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double sum = 0.0;
  for (int n = 12; n >= 0; --n) {
    sum = sum * s2 + 1.0 / (2.0 * (double)n + 1.0);
  }
  const double twos = (double)exponent;
  return twos * PETREL_LN2_HIGH + (2.0 * s * sum + twos * PETREL_LN2_LOW);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LOG_H_ */
