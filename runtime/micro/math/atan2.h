/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ATAN2_H_
#define PETREL_RUNTIME_MICRO_MATH_ATAN2_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/atan.h"

/* The angle of the point (x, y). */
static double petrel_atan2(double y, double x) {
  if (x != x || y != y) {
    return PETREL_NAN;
  }
  if (y == 0.0) {
    return signbit(x) ? copysign(PETREL_PI, y) : y;
  }
  if (x == 0.0) {
    return copysign(PETREL_PI / 2.0, y);
  }
  if (fabs(x) == PETREL_INFINITY && fabs(y) == PETREL_INFINITY) {
    return copysign(x > 0.0 ? PETREL_PI / 4.0 : 3.0 * PETREL_PI / 4.0, y);
  }
  const double angle = petrel_atan(fabs(y) / fabs(x));
  return copysign(x > 0.0 ? angle : PETREL_PI - angle, y);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ATAN2_H_ */
