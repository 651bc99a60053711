/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_REMAINDER_H_
#define PETREL_RUNTIME_MICRO_MATH_REMAINDER_H_

#include <math.h>

/* What x / y leaves, with the sign of y. */
static double petrel_remainder(double x, double y) {
  const double rest = fmod(x, y);
  return rest != 0.0 && (rest < 0.0) != (y < 0.0) ? rest + y : rest;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_REMAINDER_H_ */
