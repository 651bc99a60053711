/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_
#define PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/math/constants.h"

/* e^r - 1 of |r| <= 0.35: the sum of r^n / n!, in pairs of powers. No branches, as all here, so
 * that compilers compute many at once, and few operations that wait for one another. */
static inline double petrel_exp_rest(double r) {
  const double z = r * r;
  const double first = (0.5 + r * (1.0 / 6.0)) + z * (1.0 / 24.0 + r * (1.0 / 120.0));
  const double second =
      (1.0 / 720.0 + r * (1.0 / 5040.0)) + z * (1.0 / 40320.0 + r * (1.0 / 362880.0));
  const double third = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) +
                       z * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
  const double fourth = z * z;
  return r + z * (first + fourth * (second + fourth * third));
}

/* The whole number nearest to x / ln 2, |x| <= 1000; 0 of a NaN. */
static inline int32_t petrel_exp_whole(double x) {
  const double share = x * 1.44269504088896340736 + copysign(0.5, x);
  return (int32_t)(share == share ? share : 0.0);
}

/* x - n ln 2. */
static inline double petrel_exp_reduced(double x, int32_t n) {
  return (x - (double)n * PETREL_LN2_HIGH) - (double)n * PETREL_LN2_LOW;
}

/* 2^(n - 1023), 0 < n < 2047. */
static inline double petrel_power_of_two_biased(uint32_t n) {
  const uint64_t bits = (uint64_t)n << 52;
  double power;
  (void)memcpy((void *)&power, (const void *)&bits, sizeof power);
  return power;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_ */
