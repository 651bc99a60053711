/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_TANH_H_
#define PETREL_RUNTIME_MICRO_MATH_TANH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/expm1.h"

/* sinh(x) / cosh(x). */
static double petrel_tanh(double x) {
  if (fabs(x) > 22.0) {
    return copysign(1.0, x);
  }
  const double e = petrel_expm1(2.0 * x);
  return e / (e + 2.0); /* NaN stays NaN */
}

#endif /* PETREL_RUNTIME_MICRO_MATH_TANH_H_ */
