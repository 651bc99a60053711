/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level_of_share.h"

/* Exponentials over their sum along a dim of SIZE levels, INNER apart: table[d] is that of a level
 * which is d below the largest. What the mask shuts out counts as nothing. */
static void NAME(const IN_TYPE *in, const bool *mask, const int32_t *table, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER * INNER; ++n) {
    const int32_t begin = n / INNER * SIZE * INNER + n % INNER;
    int32_t largest = -256;
    int64_t sum = 0;
    for (int32_t i = 0; i < SIZE; ++i) {
      const int32_t at = begin + i * INNER;
      if (mask[at % MASKED] && in[at] > largest) {
        largest = in[at];
      }
    }
    for (int32_t i = 0; i < SIZE; ++i) {
      const int32_t at = begin + i * INNER;
      sum += mask[at % MASKED] ? table[largest - in[at]] : 0;
    }
    sum = sum < 1 ? 1 : sum;
    for (int32_t i = 0; i < SIZE; ++i) {
      const int32_t at = begin + i * INNER;
      const int64_t entry = mask[at % MASKED] ? table[largest - in[at]] : 0;
      out[at] = (OUT_TYPE)petrel_level_of_share(entry * MULTIPLIER, sum * ((int64_t)1 << SHIFT),
                                                OUT_ZERO, LEAST, MOST);
    }
  }
}
