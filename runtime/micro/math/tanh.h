/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_TANH_H_
#define PETREL_RUNTIME_MICRO_MATH_TANH_H_

#include <math.h>

#include "runtime/micro/math/expm1.h"

/* sinh(x) / cosh(x), which is 1 or -1 beyond 22. */
static inline double petrel_tanh(double x) {
  const double size = fabs(x);
  const double e = petrel_expm1(2.0 * (size > 22.0 ? 22.0 : size));
  return copysign(e / (e + 2.0), x); /* NaN stays NaN */
}

#endif /* PETREL_RUNTIME_MICRO_MATH_TANH_H_ */
