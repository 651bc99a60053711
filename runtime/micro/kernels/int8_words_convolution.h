/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/add_pairs.h"
#include "runtime/micro/math/pairs.h"

/* What one place of the output sums, as WORDS words of four levels; padding is the zero point. */
static void NAME_PATCH(const int8_t *in, int32_t place, uint32_t *words) {
  const int32_t top = place / OUT_WIDTH * STRIDE_HEIGHT - PADDING_TOP;
  const int32_t left = place % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
  uint32_t word = 0;
  int32_t count = 0; /* of the levels in it */
  for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
    const int32_t h = top + r * DILATION_HEIGHT;
    const bool has_row = h >= 0 && h < IN_HEIGHT;
    for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
      const int32_t w = left + s * DILATION_WIDTH;
      const bool is_inside = has_row && w >= 0 && w < IN_WIDTH;
      const int8_t *from = in + (is_inside ? HELD_ROW * IN_ROW + w * IN_COLUMN : 0);
      if (IN_PLANE == 1 && CHANNELS % 4 == 0) {
        for (int32_t c = 0; c < CHANNELS; c += 4) {
          *words++ =
              is_inside ? petrel_load_word(from + c) : 0x01010101u * (uint8_t)(int8_t)IN_ZERO;
        }
        continue;
      }
      for (int32_t c = 0; c < CHANNELS; ++c) {
        const int8_t level = is_inside ? from[c * IN_PLANE] : (int8_t)IN_ZERO;
        word |= (uint32_t)(uint8_t)level << 8 * count;
        if (++count < 4) {
          continue;
        }
        *words++ = word;
        word = 0;
        count = 0;
      }
    }
  }
  if (count > 0) {
    *words = word;
  }
}

/* Two places and two filters at once, as im2col-smlad with half of its scratch: levels become pairs
 * each time that they are multiplied. A place is read before anything of it is written. */
static void NAME(const int8_t *in, const int32_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, uint32_t *scratch, int8_t *out) {
  const int32_t places = ROWS * OUT_WIDTH, steps = (ROWS * OUT_WIDTH + 1) / 2;
  for (int32_t i = 0; i < BATCH * steps; ++i) {
    const int32_t n = i / steps, place = i % steps * 2;
    const int32_t next = place + 1 < places ? place + 1 : place;
    int8_t *const to =
        out + n * OUT_BATCH + place / OUT_WIDTH * OUT_ROW + place % OUT_WIDTH * OUT_COLUMN;
    int8_t *const to_next =
        out + n * OUT_BATCH + next / OUT_WIDTH * OUT_ROW + next % OUT_WIDTH * OUT_COLUMN;
    NAME_PATCH(in + n * IN_BATCH, FIRST_ROW * OUT_WIDTH + place, scratch);
    NAME_PATCH(in + n * IN_BATCH, FIRST_ROW * OUT_WIDTH + next, scratch + WORDS);
    const int32_t *with = weight;
    for (int32_t f = 0; f < FILTERS; f += 2) {
      int32_t a = offset[f], b = a, c = offset[f + 1], d = c;
      const uint32_t *words = scratch;
      for (int32_t k = 0; k < WORDS; ++k) {
        const uint32_t first = (uint32_t)with[0], second = (uint32_t)with[1];
        const uint32_t even = petrel_even_bytes(words[0]), odd = petrel_odd_bytes(words[0]);
        const uint32_t next_even = petrel_even_bytes(words[WORDS]);
        const uint32_t next_odd = petrel_odd_bytes(words[WORDS]);
        uint32_t w = petrel_even_bytes(first);
        uint32_t v = petrel_odd_bytes(first);
        a = petrel_add_pairs(odd, v, petrel_add_pairs(even, w, a));
        b = petrel_add_pairs(next_odd, v, petrel_add_pairs(next_even, w, b));
        w = petrel_even_bytes(second);
        v = petrel_odd_bytes(second);
        c = petrel_add_pairs(odd, v, petrel_add_pairs(even, w, c));
        d = petrel_add_pairs(next_odd, v, petrel_add_pairs(next_even, w, d));
        ++words;
        with += 2;
      }
      const int32_t m = multiplier[f], s = shift[f], t = multiplier[f + 1], u = shift[f + 1];
      STORE_LEVEL(to_next + f * OUT_PLANE, TO_LEVEL(b, m, s, OUT_ZERO, LEAST, MOST));
      if (next != place) {
        STORE_LEVEL(to + f * OUT_PLANE, TO_LEVEL(a, m, s, OUT_ZERO, LEAST, MOST));
      }
      if (FILTERS % 2 != 0 && f + 1 == FILTERS) {
        continue;
      }
      STORE_LEVEL(to_next + (f + 1) * OUT_PLANE, TO_LEVEL(d, t, u, OUT_ZERO, LEAST, MOST));
      if (next != place) {
        STORE_LEVEL(to + (f + 1) * OUT_PLANE, TO_LEVEL(c, t, u, OUT_ZERO, LEAST, MOST));
      }
    }
  }
}
