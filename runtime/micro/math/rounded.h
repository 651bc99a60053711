/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ROUNDED_H_
#define PETREL_RUNTIME_MICRO_MATH_ROUNDED_H_

#include <math.h>

/* To an integer, ties to the even one, whatever the rounding mode. */
static double petrel_rounded(double x) {
  const double low = floor(x);
  const double rest = x - low;
  if (rest < 0.5) {
    return copysign(low, x);
  }
  if (rest > 0.5) {
    return copysign(low + 1.0, x);
  }
  if (x != x || rest != 0.5) {
    return x;
  }
  return copysign(fmod(low, 2.0) == 0.0 ? low : low + 1.0, x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ROUNDED_H_ */
