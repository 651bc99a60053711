/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_POW_H_
#define PETREL_RUNTIME_MICRO_MATH_POW_H_

#include <math.h>
#include <stdbool.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp.h"
#include "runtime/micro/math/log.h"

/* base to the power of exponent, as IEEE 754 has its special cases. */
static double petrel_pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) {
    return 1.0;
  }
  if (base != base || exponent != exponent) {
    return PETREL_NAN;
  }
  const bool whole = exponent == floor(exponent);
  const bool odd = whole && fmod(fabs(exponent), 2.0) == 1.0;
  /* Small whole powers by squaring are exact where the result is. */
  if (whole && fabs(exponent) <= 64.0) {
    double result = 1.0;
    double square = base;
    for (int n = (int)(fabs(exponent)); n > 0; n >>= 1) {
      if ((n & 1) != 0) {
        result *= square;
      }
      square *= square;
    }
    return exponent < 0.0 ? 1.0 / result : result;
  }
  if (exponent == 0.5 && base >= 0.0) {
    return sqrt(base);
  }
  if (fabs(exponent) == PETREL_INFINITY) {
    const double a = fabs(base);
    if (a == 1.0) {
      return 1.0;
    }
    return (a > 1.0) == (exponent > 0.0) ? PETREL_INFINITY : 0.0;
  }
  if (base == 0.0 || fabs(base) == PETREL_INFINITY) {
    const bool large = (base == 0.0) == (exponent < 0.0);
    const double magnitude = large ? PETREL_INFINITY : 0.0;
    return odd ? copysign(magnitude, base) : magnitude;
  }
  if (base < 0.0 && !whole) {
    return PETREL_NAN;
  }
  const double magnitude = petrel_exp(exponent * petrel_log(fabs(base)));
  return odd && base < 0.0 ? -magnitude : magnitude;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_POW_H_ */
