/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/add_pairs.h"
#include "runtime/micro/math/pairs.h"

/* Four rows of the weight at once, which lie in groups of four levels, one group of each of four
 * rows after the other; offsets are biases with what the zero point of the input adds. */
static void NAME(const int8_t *in, const int32_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, int8_t *out) {
  for (int32_t i = 0; i < ROWS; ++i) {
    const int32_t *with = weight;
    for (int32_t j = 0; j < COLUMNS; j += 4) {
      const int8_t *from = in + i * DEPTH;
      int32_t a = offset[j];
      int32_t b = offset[j + 1];
      int32_t c = offset[j + 2];
      int32_t d = offset[j + 3];
      for (int32_t k = 0; k < DEPTH; k += 4) {
        uint32_t word = 0;
        if (DEPTH % 4 == 0 || k + 4 <= DEPTH) {
          word = petrel_load_word(from);
        } else {
          for (int32_t rest = k; rest < DEPTH; ++rest) {
            word |= (uint32_t)(uint8_t)from[rest - k] << 8 * (rest - k);
          }
        }
        const uint32_t even = petrel_even_bytes(word);
        const uint32_t odd = petrel_odd_bytes(word);
        const uint32_t w = (uint32_t)with[0];
        const uint32_t x = (uint32_t)with[1];
        const uint32_t y = (uint32_t)with[2];
        const uint32_t z = (uint32_t)with[3];
        a = petrel_add_pairs(even, petrel_even_bytes(w), a);
        a = petrel_add_pairs(odd, petrel_odd_bytes(w), a);
        b = petrel_add_pairs(even, petrel_even_bytes(x), b);
        b = petrel_add_pairs(odd, petrel_odd_bytes(x), b);
        c = petrel_add_pairs(even, petrel_even_bytes(y), c);
        c = petrel_add_pairs(odd, petrel_odd_bytes(y), c);
        d = petrel_add_pairs(even, petrel_even_bytes(z), d);
        d = petrel_add_pairs(odd, petrel_odd_bytes(z), d);
        from += 4;
        with += 4;
      }
      const int32_t sums[4] = {a, b, c, d};
      for (int32_t f = j; f < j + 4 && f < COLUMNS; ++f) {
        out[i * COLUMNS + f] =
            (int8_t)TO_LEVEL(sums[f - j], multiplier[f], shift[f], OUT_ZERO, LEAST, MOST);
      }
    }
  }
}
