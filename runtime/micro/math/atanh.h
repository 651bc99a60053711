/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ATANH_H_
#define PETREL_RUNTIME_MICRO_MATH_ATANH_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log1p.h"

/* The inverse of tanh; NaN outside of [-1, 1]. */
static double petrel_atanh(double x) {
  if (fabs(x) > 1.0) {
    return PETREL_NAN;
  }
  if (fabs(x) == 1.0) {
    return x * PETREL_INFINITY;
  }
  return 0.5 * petrel_log1p(2.0 * x / (1.0 - x));
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ATANH_H_ */
