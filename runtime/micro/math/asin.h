/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ASIN_H_
#define PETREL_RUNTIME_MICRO_MATH_ASIN_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/atan.h"

/* The angle whose sine is x; NaN outside of [-1, 1]. */
static double petrel_asin(double x) {
  if (fabs(x) == 1.0) {
    return x * (PETREL_PI / 2.0);
  }
  return petrel_atan(x / sqrt((1.0 - x) * (1.0 + x))); /* NaN where it must be */
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ASIN_H_ */
