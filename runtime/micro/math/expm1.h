/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_EXPM1_H_
#define PETREL_RUNTIME_MICRO_MATH_EXPM1_H_

#include <math.h>

#include "runtime/micro/math/constants.h"
#include "runtime/micro/math/exp.h"

/* e^x - 1, exact near 0. */
static double petrel_expm1(double x) {
  if (fabs(x) < 0.35) {
    return petrel_exp_tail(x, 1);
  }
  return petrel_exp(x) - 1.0;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_EXPM1_H_ */
