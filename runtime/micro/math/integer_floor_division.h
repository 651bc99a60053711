/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_FLOOR_DIVISION_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_FLOOR_DIVISION_H_

#include <stdint.h>

/* x / y towards minus infinity, wrapping; y is not 0. */
static int64_t petrel_integer_floor_division(int64_t x, int64_t y) {
  if (y == -1) {
    return (int64_t)(0u - (uint64_t)x);
  }
  const int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_FLOOR_DIVISION_H_ */
