/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXP_H_
#define PETREL_RUNTIME_MICRO_MATH_EXP_H_

#include <stdint.h>

#include "runtime/micro/math/exp_series.h"

/* e^x: 2^n e^r, where 2^n is two factors, as n may be beyond the exponents that there are. */
static inline double petrel_exp(double x) {
  const double below = x > 710.0 ? 710.0 : x;
  const double inside = below < -746.0 ? -746.0 : below; /* NaN stays NaN */
  const int32_t n = petrel_exp_whole(inside);
  const double e = 1.0 + petrel_exp_rest(petrel_exp_reduced(inside, n));
  const uint32_t both = (uint32_t)(n + 2046);
  const uint32_t half = both / 2U;
  return e * petrel_power_of_two_biased(half) * petrel_power_of_two_biased(both - half);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXP_H_ */
