/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_INTEGER_POW_H_
#define PETREL_RUNTIME_MICRO_MATH_INTEGER_POW_H_

#include <stdint.h>

/* x to the power of y, wrapping; towards zero for powers below 0. */
static int64_t petrel_integer_pow(int64_t x, int64_t y) {
  if (y < 0) {
    return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1;
  uint64_t square = (uint64_t)x;
  for (uint64_t rest = (uint64_t)y; rest > 0u; rest >>= 1) {
    if ((rest & 1u) != 0u) {
      result *= square;
    }
    square *= square;
  }
  return (int64_t)result;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_INTEGER_POW_H_ */
