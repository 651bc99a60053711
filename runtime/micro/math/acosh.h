/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ACOSH_H_
#define PETREL_RUNTIME_MICRO_MATH_ACOSH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log.h"
#include "runtime/micro/math/log1p.h"

/* The inverse of cosh; NaN below 1. */
static double petrel_acosh(double x) {
  if (x < 1.0) {
    return PETREL_NAN;
  }
  if (x > 1e8) {
    return petrel_log(x) + PETREL_LN2;
  }
  const double t = x - 1.0;
  return petrel_log1p(t + sqrt(t * (x + 1.0)));
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ACOSH_H_ */
