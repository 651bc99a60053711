/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SHARE_H_
#define PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SHARE_H_

#include <stdint.h>

/* The level nearest to product / divisor steps from the zero point, ties to the even step, held
 * within [least, most]. The divisor is in [1, 2^62], the product at most 2^62 to either side. */
static int32_t petrel_level_of_share(int64_t product, int64_t divisor, int32_t zero_point,
                                     int32_t least, int32_t most) {
  const int64_t size = product < 0 ? -product : product;
  const int64_t rest = size % divisor;
  int64_t steps = size / divisor;
  if (rest > divisor - rest || (rest == divisor - rest && steps % 2 != 0)) {
    ++steps;
  }
  const int64_t level = (product < 0 ? -steps : steps) + zero_point;
  return level < least ? least : level > most ? most : (int32_t)level;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SHARE_H_ */
