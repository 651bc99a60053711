/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_COS_H_
#define PETREL_RUNTIME_MICRO_MATH_COS_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/quadrant.h"

/* Cosine of x radians; NaN for infinities. */
static double petrel_cos(double x) {
  if (x != x || fabs(x) == PETREL_INFINITY) {
    return PETREL_NAN;
  }
  double r = 0.0;
  switch (petrel_reduce_quadrant(x, &r)) {
    case 0:
      return petrel_sin_cos_series(r, 0);
    case 1:
      return -petrel_sin_cos_series(r, 1);
    case 2:
      return -petrel_sin_cos_series(r, 0);
    default:
      return petrel_sin_cos_series(r, 1);
  }
}

#endif /* PETREL_RUNTIME_MICRO_MATH_COS_H_ */
