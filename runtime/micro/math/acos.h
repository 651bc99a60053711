/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ACOS_H_
#define PETREL_RUNTIME_MICRO_MATH_ACOS_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/atan.h"

/* The angle in [0, pi] whose cosine is x; NaN outside of [-1, 1]. */
static double petrel_acos(double x) {
  if (x == -1.0) {
    return PETREL_PI;
  }
  return 2.0 * petrel_atan(sqrt((1.0 - x) / (1.0 + x)));
}

#endif /* PETREL_RUNTIME_MICRO_MATH_ACOS_H_ */
