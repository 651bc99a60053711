/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_REMAINDER_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_REMAINDER_H_

#include <stdint.h>

/* What x / y leaves, with the sign of y; y is not 0. */
static int64_t petrel_integer_remainder(int64_t x, int64_t y) {
  if (y == -1) {
    return 0;
  }
  const int64_t rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_REMAINDER_H_ */
