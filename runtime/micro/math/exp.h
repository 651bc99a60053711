/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXP_H_
#define PETREL_RUNTIME_MICRO_MATH_EXP_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp_series.h"

/* e^x. */
static double petrel_exp(double x) {
  if (x != x) {
    return x;
  }
  if (x > 709.8) {
    return PETREL_INFINITY;
  }
  if (x < -745.2) {
    return 0.0;
  }
  double r = 0.0;
  const int k = petrel_reduce_exp(x, &r);
  return ldexp(petrel_exp_tail(r, 0), k);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXP_H_ */
