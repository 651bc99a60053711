/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The KEPT best elements along the middle dim of [OUTER, SIZE, INNER], the best first and of
 * equal ones the first. */
static void NAME(const IN_TYPE *in, OUT_TYPE *values, int64_t *places) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t j = 0; j < INNER; ++j) {
      const IN_TYPE *elements = &in[n * SIZE * INNER + j];
      const int32_t first = n * KEPT * INNER + j;
      int32_t found = 0;
      for (int32_t i = 0; i < SIZE; ++i) {
        const ARITHMETIC x = LOAD_IN(elements[i * INNER]);
        int32_t at = found;
        /* Behind all that are better or came before with the same value. */
        while (at > 0) {
          const ARITHMETIC value = LOAD_IN(elements[places[first + (at - 1) * INNER] * INNER]);
          if (!(EXPRESSION)) {
            break;
          }
          if (at < KEPT) {
            places[first + at * INNER] = places[first + (at - 1) * INNER];
          }
          --at;
        }
        if (at < KEPT) {
          places[first + at * INNER] = i;
        }
        if (found < KEPT) {
          ++found;
        }
      }
      for (int32_t i = 0; i < KEPT; ++i) {
        values[first + i * INNER] = STORE_OUT(LOAD_IN(elements[places[first + i * INNER] * INNER]));
      }
    }
  }
}
