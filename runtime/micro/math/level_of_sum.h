/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SUM_H_
#define PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SUM_H_

#include <stdint.h>

#include "runtime/micro/math/level.h"

/* petrel_level() of sum * multiplier. */
static int32_t petrel_level_of_sum(int32_t sum, int32_t multiplier, int32_t shift,
                                   int32_t zero_point, int32_t least, int32_t most) {
  return petrel_level((int64_t)sum * multiplier, shift, zero_point, least, most);
}

#endif /* PETREL_RUNTIME_MICRO_MATH_LEVEL_OF_SUM_H_ */
