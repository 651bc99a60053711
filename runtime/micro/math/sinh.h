/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_SINH_H_
#define PETREL_RUNTIME_MICRO_MATH_SINH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp.h"
#include "runtime/micro/math/expm1.h"

/* (e^x - e^-x) / 2. */
static double petrel_sinh(double x) {
  if (fabs(x) < 0.35) {
    const double e = petrel_expm1(x);
    return 0.5 * (e + e / (1.0 + e));
  }
  if (fabs(x) > 709.0) { /* e^x alone would overflow too early */
    const double half = petrel_exp(0.5 * fabs(x));
    return copysign(0.5 * half * half, x);
  }
  const double e = petrel_exp(x);
  return 0.5 * (e - 1.0 / e);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_SINH_H_ */
