/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ASINH_H_
#define PETREL_RUNTIME_MICRO_MATH_ASINH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log.h"
#include "runtime/micro/math/log1p.h"

/* The inverse of sinh. */
static double petrel_asinh(double x) {
  const double a = fabs(x);
  if (a > 1e8) {
    return copysign(petrel_log(a) + PETREL_LN2, x);
  }
  return copysign(petrel_log1p(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ASINH_H_ */
