/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LOG1P_H_
#define PETREL_RUNTIME_MICRO_MATH_LOG1P_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log.h"

/* log(1 + x), exact near 0. */
static double petrel_log1p(double x) {
  if (x == PETREL_INFINITY) {
    return x;
  }
  const double u = 1.0 + x;
  if (u == 1.0) {
    return x;
  }
  if (u <= 0.0) {
    return petrel_log(u);
  }
  /* The rounding of 1 + x is made good by its relative error. */
  return petrel_log(u) * (x / (u - 1.0));
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LOG1P_H_ */
