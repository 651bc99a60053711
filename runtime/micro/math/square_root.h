/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_SQUARE_ROOT_H_
#define PETREL_RUNTIME_MICRO_MATH_SQUARE_ROOT_H_

#include <stdint.h>

/* The integer nearest to the square root. The square is at most 2^62. */
static int64_t petrel_square_root(int64_t square) {
  uint64_t rest = (uint64_t)square;
  uint64_t root = 0;
  uint64_t bit = (uint64_t)1 << 62;
  while (bit > rest) {
    bit >>= 2;
  }
  for (; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return (int64_t)(rest > root ? root + 1 : root);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_SQUARE_ROOT_H_ */
