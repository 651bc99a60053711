/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ATAN_H_
#define PETREL_RUNTIME_MICRO_MATH_ATAN_H_

#include <math.h>

#include "runtime/micro/math/constants.h"

/* The angle whose tangent is x. */
static double petrel_atan(double x) {
  const double a = fabs(x);
  /* Halving the angle twice: tan(a/2) = t / (1 + sqrt(1 + t^2)). */
  double t = a > 1.0 ? 1.0 / a : a;
  for (int i = 0; i < 2; ++i) {
    t = t / (1.0 + sqrt(1.0 + t * t));
  }
  const double t2 = t * t; /* t <= 0.2 */
  double sum = 0.0;
  for (int n = 12; n >= 0; --n) {
    sum = 1.0 / (2.0 * (double)n + 1.0) - sum * t2;
  }
  const double angle = 4.0 * t * sum;
  return copysign(a > 1.0 ? PETREL_PI / 2.0 - angle : angle, x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ATAN_H_ */
