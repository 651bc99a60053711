/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ERF_H_
#define PETREL_RUNTIME_MICRO_MATH_ERF_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp.h"

/* The error function. */
static double petrel_erf(double x) {
  if (x != x) {
    return x;
  }
  const double a = fabs(x);
  if (a > 6.0) {
    return copysign(1.0, x);
  }
  if (a < 2.5) {
    /* 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!: all terms positive. */
    double term = a;
    double sum = a;
    for (int n = 1; n < 60; ++n) {
      term *= 2.0 * a * a / (2.0 * (double)n + 1.0);
      sum += term;
    }
    return copysign(2.0 / sqrt(PETREL_PI) * petrel_exp(-a * a) * sum, x);
  }
  /* Continued fraction of the complement. */
  double fraction = 0.0;
  for (int n = 60; n >= 1; --n) {
    fraction = 0.5 * (double)n / (a + fraction);
  }
  return copysign(1.0 - petrel_exp(-a * a) / (sqrt(PETREL_PI) * (a + fraction)), x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ERF_H_ */
