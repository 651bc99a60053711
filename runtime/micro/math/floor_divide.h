/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_FLOOR_DIVIDE_H_
#define PETREL_RUNTIME_MICRO_MATH_FLOOR_DIVIDE_H_

#include <math.h>

/* x / y, towards minus infinity. */
static double petrel_floor_divide(double x, double y) {
  if (y == 0.0) {
    return x / y;
  }
  const double rest = fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0.0 && (rest < 0.0) != (y < 0.0)) {
    quotient -= 1.0;
  }
  if (quotient == 0.0) {
    return copysign(0.0, x / y);
  }
  const double whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_FLOOR_DIVIDE_H_ */
