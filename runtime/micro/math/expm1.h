/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXPM1_H_
#define PETREL_RUNTIME_MICRO_MATH_EXPM1_H_

#include <math.h>
#include <stdint.h>

#include "runtime/micro/math/exp_series.h"

/* e^x - 1, exact near 0: 2^n (e^r - 1) + (2^n - 1), and half of it where 2^n may be no number. */
static inline double petrel_expm1(double x) {
  const double below = x > 710.0 ? 710.0 : x;
  const double inside = below < -40.0 ? -40.0 : below; /* NaN stays NaN */
  const int32_t n = petrel_exp_whole(inside);
  const double rest = petrel_exp_rest(petrel_exp_reduced(inside, n));
  const double one = n > 1000 ? 0.5 : 1.0;
  const double power = petrel_power_of_two_biased((uint32_t)(n + (n > 1000 ? 1022 : 1023)));
  const double result = (power * rest + (power - one)) * (n > 1000 ? 2.0 : 1.0);
  return copysign(result, x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXPM1_H_ */
