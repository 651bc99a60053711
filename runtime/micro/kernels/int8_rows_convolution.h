/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/dots.h"
#include "runtime/micro/kernels/tokens.h"

/* The levels that one place of the output sums, channels innermost; padding is the zero point. They
 * are where they lie in the input, or in `levels`. */
static const int8_t *NAME_PATCH(const int8_t *in, int32_t place, int8_t *levels) {
  const int32_t top = place / OUT_WIDTH * STRIDE_HEIGHT - PADDING_TOP;
  const int32_t left = place % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
  int8_t *to = levels;
  if (KERNEL_HEIGHT * KERNEL_WIDTH == 1 && PADDING_TOP + PADDING_LEFT == 0 && IN_PLANE == 1) {
    const int32_t h = top;
    (void)h; /* an input of one row has no use for it */
    return in + HELD_ROW * IN_ROW + left * IN_COLUMN;
  }
  for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
    const int32_t h = top + r * DILATION_HEIGHT;
    for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
      const int32_t w = left + s * DILATION_WIDTH;
      const bool is_inside = h >= 0 && h < IN_HEIGHT && w >= 0 && w < IN_WIDTH;
      const int8_t *from = in + (is_inside ? HELD_ROW * IN_ROW + w * IN_COLUMN : 0);
      for (int32_t c = 0; c < CHANNELS; ++c) {
        *to = is_inside ? from[c * IN_PLANE] : (int8_t)IN_ZERO;
        ++to;
      }
    }
  }
  return levels;
}

/* Place by place, four filters at once and the rest one by one, whose channels lie innermost;
 * offsets are biases with what the zero point of the input adds. */
static void NAME(const int8_t *in, const int8_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, int8_t *scratch, int8_t *out) {
  for (int32_t i = 0; i < BATCH * ROWS * OUT_WIDTH; ++i) {
    const int32_t n = i / (ROWS * OUT_WIDTH);
    const int32_t place = i % (ROWS * OUT_WIDTH);
    const int8_t *levels = NAME_PATCH(in + n * IN_BATCH, FIRST_ROW * OUT_WIDTH + place, scratch);
    int8_t *to = out + n * OUT_BATCH + place / OUT_WIDTH * OUT_ROW + place % OUT_WIDTH * OUT_COLUMN;
    int32_t count = 4;
    for (int32_t f = 0; f < FILTERS; f += count) {
      if (FILTERS - f < 4) {
        count = 1;
      }
      const int8_t *rows = weight + f * DEPTH;
      int32_t sums[4] = {0, 0, 0, 0};
      if (count == 4) {
        petrel_add_dots(levels, rows, DEPTH, sums);
      } else {
        for (int32_t k = 0; k < DEPTH; ++k) {
          sums[0] += levels[k] * rows[k];
        }
      }
      for (int32_t k = 0; k < count; ++k) {
        STORE_LEVEL(to + (f + k) * OUT_PLANE, TO_LEVEL(offset[f + k] + sums[k], multiplier[f + k],
                                                       shift[f + k], OUT_ZERO, LEAST, MOST));
      }
    }
  }
}
