/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LEVEL_H_
#define PETREL_RUNTIME_MICRO_MATH_LEVEL_H_

#include <stdint.h>

/* The level nearest to product / 2^shift steps from the zero point, ties to the even step, held
 * within [least, most]. The shift is in [1, 62], the product at most 2^62 to either side. */
static int32_t petrel_level(int64_t product, int32_t shift, int32_t zero_point, int32_t least,
                            int32_t most) {
  const uint64_t size = product < 0 ? (uint64_t)-product : (uint64_t)product;
  const uint64_t below_half = ((uint64_t)1 << (shift - 1)) - 1;
  const int64_t steps = (int64_t)((size + below_half + (size >> shift & 1)) >> shift);
  const int64_t level = (product < 0 ? -steps : steps) + zero_point;
  return level < least ? least : level > most ? most : (int32_t)level;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LEVEL_H_ */
