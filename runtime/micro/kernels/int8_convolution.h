/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level.h"

/* Levels [BATCH, GROUPS * CHANNELS, IN_HEIGHT, IN_WIDTH] in any order, and filters around 0
 * [GROUPS * FILTERS, CHANNELS, KERNEL_HEIGHT, KERNEL_WIDTH], in sums of int32. Padding is 0, which
 * adds nothing. */
static void NAME(const IN_TYPE *in, const int8_t *weight, const int32_t *bias,
                 const int32_t *multiplier, const int8_t *shift, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCH * GROUPS; ++n) {
    const IN_TYPE *planes = in + n / GROUPS * IN_BATCH + n % GROUPS * CHANNELS * IN_PLANE;
    for (int32_t f = 0; f < FILTERS; ++f) {
      const int32_t k = n % GROUPS * FILTERS + f;
      const int8_t *filter = weight + k * CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH;
      for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
        const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
        int32_t first_row = 0;
        int32_t end_row = KERNEL_HEIGHT; /* of those that meet the input */
        while (first_row < end_row && top + first_row * DILATION_HEIGHT < 0) {
          ++first_row;
        }
        while (first_row < end_row && top + (end_row - 1) * DILATION_HEIGHT >= IN_HEIGHT) {
          --end_row;
        }
        for (int32_t q = 0; q < OUT_WIDTH; ++q) {
          const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
          int32_t first = 0;
          int32_t end = KERNEL_WIDTH;
          while (first < end && left + first * DILATION_WIDTH < 0) {
            ++first;
          }
          while (first < end && left + (end - 1) * DILATION_WIDTH >= IN_WIDTH) {
            --end;
          }
          int32_t sum = bias == NULL ? 0 : bias[k];
          for (int32_t c = 0; c < CHANNELS; ++c) {
            for (int32_t r = first_row; r < end_row; ++r) {
              const IN_TYPE *row = planes + c * IN_PLANE + (top + r * DILATION_HEIGHT) * IN_ROW;
              const int8_t *with = filter + (c * KERNEL_HEIGHT + r) * KERNEL_WIDTH;
              for (int32_t s = first; s < end; ++s) {
                sum += ((int32_t)row[(left + s * DILATION_WIDTH) * IN_COLUMN] - IN_ZERO) * with[s];
              }
            }
          }
          out[n / GROUPS * OUT_BATCH + k * OUT_PLANE + p * OUT_ROW + q * OUT_COLUMN] =
              (OUT_TYPE)petrel_level((int64_t)sum * multiplier[k], shift[k], OUT_ZERO, LEAST, MOST);
        }
      }
    }
  }
}
