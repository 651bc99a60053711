/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/add_pairs.h"
#include "runtime/micro/math/pairs.h"

/* What one place of the output sums, as pairs: WORDS groups of four levels, each two words and
 * then two of another place. Padding is the zero point. `bytes` has room for those levels that do
 * not lie side by side. */
static void NAME_PATCH(const int8_t *in, int32_t place, int8_t *bytes, uint32_t *words) {
  uint32_t *pairs = words;
  const int32_t top = place / OUT_WIDTH * STRIDE_HEIGHT - PADDING_TOP;
  const int32_t left = place % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
  int8_t *to = bytes;
  for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
    const int32_t h = top + r * DILATION_HEIGHT;
    const bool has_row = h >= 0 && h < IN_HEIGHT;
    if (WORDS * 4 != KERNEL_HEIGHT * KERNEL_WIDTH * CHANNELS || CHANNELS % 4 != 0) {
      const bool is_run = IN_PLANE == 1 && IN_COLUMN == CHANNELS && DILATION_WIDTH == 1 &&
                          has_row && left >= 0 && left + KERNEL_WIDTH <= IN_WIDTH;
      if (is_run) {
        const int8_t *from = in + h * IN_ROW + left * IN_COLUMN;
        for (int32_t i = 0; i < KERNEL_WIDTH * CHANNELS; ++i) {
          *to = from[i];
          ++to;
        }
        continue;
      }
    }
    for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
      const int32_t w = left + s * DILATION_WIDTH;
      const bool is_inside = has_row && w >= 0 && w < IN_WIDTH;
      const int8_t *from = in + (is_inside ? h * IN_ROW + w * IN_COLUMN : 0);
      if (IN_PLANE != 1 || CHANNELS % 4 != 0) {
        for (int32_t c = 0; c < CHANNELS; ++c) {
          *to = is_inside ? from[c * IN_PLANE] : (int8_t)IN_ZERO;
          ++to;
        }
        continue;
      }
      for (int32_t c = 0; c < CHANNELS; c += 4) {
        const uint32_t word =
            is_inside ? petrel_load_word(from + c) : 0x01010101u * (uint8_t)(int8_t)IN_ZERO;
        pairs[0] = petrel_even_bytes(word);
        pairs[1] = petrel_odd_bytes(word);
        pairs += 4;
      }
    }
  }
  if (IN_PLANE != 1 || CHANNELS % 4 != 0) {
    for (int32_t i = KERNEL_HEIGHT * KERNEL_WIDTH * CHANNELS; i < WORDS * 4; ++i) {
      *to = 0;
      ++to;
    }
    for (int32_t i = 0; i < WORDS; ++i) {
      const uint32_t word = petrel_load_word(bytes + 4 * i);
      pairs[0] = petrel_even_bytes(word);
      pairs[1] = petrel_odd_bytes(word);
      pairs += 4;
    }
  }
}

/* Two places and two filters at once, which share what they load. Weights are in groups of four
 * levels, one group of each of two filters after the other; offsets are biases with what the zero
 * point of the input adds. */
static void NAME(const int8_t *in, const int32_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, uint32_t *scratch, int8_t *out) {
  int8_t *const bytes = (int8_t *)(scratch + 4 * WORDS);
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
  const int32_t steps = (OUT_HEIGHT * OUT_WIDTH + 1) / 2;
  for (int32_t i = 0; i < BATCH * steps; ++i) {
    const int32_t n = i / steps;
    const int32_t place = i % steps * 2;
    const int32_t next = place + 1 < places ? place + 1 : place;
    int8_t *const to =
        out + n * OUT_BATCH + place / OUT_WIDTH * OUT_ROW + place % OUT_WIDTH * OUT_COLUMN;
    int8_t *const to_next =
        out + n * OUT_BATCH + next / OUT_WIDTH * OUT_ROW + next % OUT_WIDTH * OUT_COLUMN;
    NAME_PATCH(in + n * IN_BATCH, place, bytes, scratch);
    NAME_PATCH(in + n * IN_BATCH, next, bytes, scratch + 2);
    const int32_t *with = weight;
    for (int32_t f = 0; f < FILTERS; f += 2) {
      int32_t a = offset[f];
      int32_t b = a;
      int32_t c = offset[f + 1];
      int32_t d = c;
      const uint32_t *pairs = scratch;
#if defined(__GNUC__)
#pragma GCC unroll 2 /* more need more registers than there are */
#endif
      for (int32_t k = 0; k < WORDS; ++k) {
        const uint32_t first = (uint32_t)with[0];
        const uint32_t second = (uint32_t)with[1];
        const uint32_t even = pairs[0];
        const uint32_t odd = pairs[1];
        const uint32_t next_even = pairs[2];
        const uint32_t next_odd = pairs[3];
        uint32_t w = petrel_even_bytes(first);
        uint32_t v = petrel_odd_bytes(first);
        a = petrel_add_pairs(odd, v, petrel_add_pairs(even, w, a));
        b = petrel_add_pairs(next_odd, v, petrel_add_pairs(next_even, w, b));
        w = petrel_even_bytes(second);
        v = petrel_odd_bytes(second);
        c = petrel_add_pairs(odd, v, petrel_add_pairs(even, w, c));
        d = petrel_add_pairs(next_odd, v, petrel_add_pairs(next_even, w, d));
        pairs += 4;
        with += 2;
      }
      const int32_t m = multiplier[f];
      const int32_t s = shift[f];
      const int32_t t = multiplier[f + 1];
      const int32_t u = shift[f + 1];
      to_next[f * OUT_PLANE] = (int8_t)TO_LEVEL(b, m, s, OUT_ZERO, LEAST, MOST);
      to[f * OUT_PLANE] = (int8_t)TO_LEVEL(a, m, s, OUT_ZERO, LEAST, MOST);
      if (FILTERS % 2 != 0 && f + 1 == FILTERS) {
        continue;
      }
      to_next[(f + 1) * OUT_PLANE] = (int8_t)TO_LEVEL(d, t, u, OUT_ZERO, LEAST, MOST);
      to[(f + 1) * OUT_PLANE] = (int8_t)TO_LEVEL(c, t, u, OUT_ZERO, LEAST, MOST);
    }
  }
}
