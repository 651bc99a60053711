/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_
#define PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_

#include <math.h>

#include "runtime/micro/math/constants.h"

/* sum of r^n / n! for n >= first, |r| <= 0.35. */
static double petrel_exp_tail(double r, int first) {
  double term = 1.0;
  for (int n = 1; n < first; ++n) {
    term *= r / (double)n;
  }
  double sum = 0.0;
  double terms[20];
  int count = 0;
  for (int n = first; n < first + 18; ++n) {
    term *= n == 0 ? 1.0 : r / (double)n;
    terms[count] = term;
    ++count;
  }
  while (count > 0) {
    --count;
    sum += terms[count]; /* small terms first */
  }
  return sum;
}

/* x = k ln 2 + r, |r| <= ln 2 / 2. */
static int petrel_reduce_exp(double x, double *out_r) {
  const double k = floor(x / PETREL_LN2 + 0.5);
  *out_r = (x - k * PETREL_LN2_HIGH) - k * PETREL_LN2_LOW;
  return (int)(k);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXP_SERIES_H_ */
