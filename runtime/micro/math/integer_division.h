/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_DIVISION_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_DIVISION_H_

#include <stdint.h>

/* x / y towards zero, wrapping; y is not 0. */
static int64_t petrel_integer_division(int64_t x, int64_t y) {
  return y == -1 ? (int64_t)(0u - (uint64_t)x) : x / y;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_DIVISION_H_ */
