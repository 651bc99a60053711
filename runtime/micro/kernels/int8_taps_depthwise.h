/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/products.h"
#include "runtime/micro/kernels/tokens.h"

/* Each channel by itself, sixteen side by side. Weights are taps of CHANNELS levels; offsets are
 * biases with what the zero point of the input adds, which padding is. */
static void NAME(const int8_t *in, const int8_t *weight, const int32_t *offset,
                 const int32_t *multiplier, const int8_t *shift, int8_t *out) {
  for (int32_t i = 0; i < BATCH * ROWS * OUT_WIDTH; ++i) {
    const int32_t n = i / (ROWS * OUT_WIDTH);
    const int32_t place = i % (ROWS * OUT_WIDTH);
    const int32_t p = FIRST_ROW + place / OUT_WIDTH;
    const int32_t q = place % OUT_WIDTH;
    const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
    const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
    int8_t *const to = out + n * OUT_BATCH + place / OUT_WIDTH * OUT_ROW + q * OUT_COLUMN;
    for (int32_t c = 0; c < CHANNELS; c += 16) {
      const int32_t count = CHANNELS - c < 16 ? CHANNELS - c : 16;
      int32_t sums[16];
      for (int32_t k = 0; k < count; ++k) {
        sums[k] = offset[c + k];
      }
      for (int32_t t = 0; t < KERNEL_HEIGHT * KERNEL_WIDTH; ++t) {
        const int32_t h = top + t / KERNEL_WIDTH * DILATION_HEIGHT;
        const int32_t w = left + t % KERNEL_WIDTH * DILATION_WIDTH;
        const int8_t *with = weight + t * CHANNELS + c;
        const bool is_inside = h >= 0 && h < IN_HEIGHT && w >= 0 && w < IN_WIDTH;
        const int8_t *from =
            in + n * IN_BATCH + c * IN_PLANE + (is_inside ? HELD_ROW * IN_ROW + w * IN_COLUMN : 0);
        if (is_inside && IN_PLANE == 1) {
          petrel_add_products(from, with, count, sums);
          continue;
        }
        for (int32_t k = 0; k < count; ++k) {
          sums[k] += (is_inside ? from[k * IN_PLANE] : IN_ZERO) * with[k];
        }
      }
      for (int32_t k = 0; k < count; ++k) {
        to[(c + k) * OUT_PLANE] =
            (int8_t)TO_LEVEL(sums[k], multiplier[c + k], shift[c + k], OUT_ZERO, LEAST, MOST);
      }
    }
  }
}
