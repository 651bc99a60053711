/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_COSH_H_
#define PETREL_RUNTIME_MICRO_MATH_COSH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp.h"

/* (e^x + e^-x) / 2. */
static double petrel_cosh(double x) {
  const double a = fabs(x);
  if (a > 709.0) {
    const double half = petrel_exp(0.5 * a);
    return 0.5 * half * half;
  }
  const double e = petrel_exp(a);
  return 0.5 * (e + 1.0 / e);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_COSH_H_ */
