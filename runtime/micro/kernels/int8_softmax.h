/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level_of_share.h"

/* Exponentials over their sum along a dim of SIZE levels, INNER apart: table[d] is that of a level
 * which is d below the largest. */
static void NAME(const IN_TYPE *in, const int32_t *table, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER * INNER; ++n) {
    const int32_t begin = n / INNER * SIZE * INNER + n % INNER;
    int32_t largest = in[begin];
    int64_t sum = 0;
    for (int32_t i = 1; i < SIZE; ++i) {
      if (in[begin + i * INNER] > largest) {
        largest = in[begin + i * INNER];
      }
    }
    for (int32_t i = 0; i < SIZE; ++i) {
      sum += table[largest - in[begin + i * INNER]];
    }
    for (int32_t i = 0; i < SIZE; ++i) {
      const int64_t entry = table[largest - in[begin + i * INNER]];
      out[begin + i * INNER] = (OUT_TYPE)petrel_level_of_share(
          entry * MULTIPLIER, sum * ((int64_t)1 << SHIFT), OUT_ZERO, LEAST, MOST);
    }
  }
}
