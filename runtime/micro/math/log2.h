/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LOG2_H_
#define PETREL_RUNTIME_MICRO_MATH_LOG2_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/log.h"

/* The logarithm to base 2. */
static double petrel_log2(double x) {
  int exponent = 0;
  /* Powers of two are exact. */
  if (x > 0.0 && x < PETREL_INFINITY && frexp(x, &exponent) == 0.5) {
    return exponent - 1.0;
  }
  return petrel_log(x) / PETREL_LN2;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LOG2_H_ */
