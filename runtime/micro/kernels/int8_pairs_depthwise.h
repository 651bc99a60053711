/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/halves.h"
#include "runtime/micro/math/pairs.h"

/* ROW_WIDTH places of row h, four channels of each as two words of pairs; padding is the zero
 * point. */
static void NAME_ROW(const int8_t *in, int32_t h, uint32_t *row) {
  uint32_t *to = row;
  const uint32_t padding = 0x01010101u * (uint8_t)(int8_t)IN_ZERO;
  const bool has_row = h >= 0 && h < IN_HEIGHT;
  const int8_t *from = in + (has_row ? HELD_ROW * IN_ROW : 0);
  for (int32_t w = -PADDING_LEFT; w < ROW_WIDTH - PADDING_LEFT; ++w) {
    uint32_t word = padding;
    if (has_row && w >= 0 && w < IN_WIDTH) {
      word = IN_PLANE == 1 ? petrel_load_word(from)
                           : (uint32_t)(uint8_t)from[0] | (uint32_t)(uint8_t)from[IN_PLANE] << 8 |
                                 (uint32_t)(uint8_t)from[2 * IN_PLANE] << 16 |
                                 (uint32_t)(uint8_t)from[3 * IN_PLANE] << 24;
      from += IN_COLUMN;
    }
    to[0] = petrel_even_bytes(word);
    to[1] = petrel_odd_bytes(word);
    to += 2;
  }
}

/* Each channel by itself, four at once. Their weights lie in groups of four channels, taps side by
 * side; offsets are biases with what the zero point of the input adds. In `scratch` are weights
 * and a ring of KERNEL_HEIGHT rows of the input, as pairs. */
static void NAME(const int8_t *in, const int32_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, uint32_t *scratch, int8_t *out) {
  uint32_t *const ring = scratch + 2 * KERNEL_HEIGHT * KERNEL_WIDTH;
  for (int32_t i = 0; i < BATCH * CHANNELS; i += 4) {
    const int32_t n = i / CHANNELS;
    const int32_t c = i % CHANNELS;
    const int8_t *planes = in + n * IN_BATCH + c * IN_PLANE;
    const uint32_t *rows[KERNEL_HEIGHT];
    int32_t end =
        FIRST_ROW * STRIDE_HEIGHT - PADDING_TOP; /* of the rows that have been in the ring */
    for (int32_t k = 0; k < KERNEL_HEIGHT * KERNEL_WIDTH; ++k) {
      const uint32_t word = (uint32_t)weight[c / 4 * KERNEL_HEIGHT * KERNEL_WIDTH + k];
      scratch[2 * k] = petrel_even_bytes(word);
      scratch[2 * k + 1] = petrel_odd_bytes(word);
    }
    for (int32_t p = FIRST_ROW; p < FIRST_ROW + ROWS; ++p) {
      const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
      int8_t *to = out + n * OUT_BATCH + c * OUT_PLANE + (p - FIRST_ROW) * OUT_ROW;
      if (end < top) {
        end = top;
      }
      for (; end < top + KERNEL_HEIGHT; ++end) {
        NAME_ROW(planes, end, ring + (end + PADDING_TOP) % KERNEL_HEIGHT * 2 * ROW_WIDTH);
      }
      for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
        rows[r] = ring + (top + PADDING_TOP + r) % KERNEL_HEIGHT * 2 * ROW_WIDTH;
      }
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const uint32_t *with = scratch;
        int32_t e = offset[c];
        int32_t f = offset[c + 1];
        int32_t g = offset[c + 2];
        int32_t j = offset[c + 3];
        for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
          const uint32_t *pairs = rows[r] + 2 * q * STRIDE_WIDTH;
#if defined(__GNUC__)
#pragma GCC unroll KERNEL_WIDTH
#endif
          for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
            const uint32_t even = pairs[0];
            const uint32_t odd = pairs[1];
            const uint32_t w = with[0];
            const uint32_t v = with[1];
            e = petrel_add_low(even, w, e);
            g = petrel_add_high(even, w, g);
            f = petrel_add_low(odd, v, f);
            j = petrel_add_high(odd, v, j);
            pairs += 2;
            with += 2;
          }
        }
        to[0] = (int8_t)TO_LEVEL(e, multiplier[c], shift[c], OUT_ZERO, LEAST, MOST);
        to[OUT_PLANE] = (int8_t)TO_LEVEL(f, multiplier[c + 1], shift[c + 1], OUT_ZERO, LEAST, MOST);
        to[2 * OUT_PLANE] =
            (int8_t)TO_LEVEL(g, multiplier[c + 2], shift[c + 2], OUT_ZERO, LEAST, MOST);
        to[3 * OUT_PLANE] =
            (int8_t)TO_LEVEL(j, multiplier[c + 3], shift[c + 3], OUT_ZERO, LEAST, MOST);
        to += OUT_COLUMN;
      }
    }
  }
}
