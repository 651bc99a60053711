/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The mean of each window of each plane; padding counts where COUNTS_PADDING is 1, and a
 * DIVISOR that is not 0 stands for the number of elements. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
      const int32_t bottom = top + KERNEL_HEIGHT;
      const int32_t padded_bottom =
          bottom < IN_HEIGHT + PADDING_TOP ? bottom : IN_HEIGHT + PADDING_TOP;
      const int32_t h_begin = top < 0 ? 0 : top > IN_HEIGHT ? IN_HEIGHT : top;
      const int32_t h_end = bottom < 0 ? 0 : bottom > IN_HEIGHT ? IN_HEIGHT : bottom;
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
        const int32_t right = left + KERNEL_WIDTH;
        const int32_t padded_right =
            right < IN_WIDTH + PADDING_LEFT ? right : IN_WIDTH + PADDING_LEFT;
        const int32_t w_begin = left < 0 ? 0 : left > IN_WIDTH ? IN_WIDTH : left;
        const int32_t w_end = right < 0 ? 0 : right > IN_WIDTH ? IN_WIDTH : right;
        double sum = 0.0;
        for (int32_t h = h_begin; h < h_end; ++h) {
          for (int32_t w = w_begin; w < w_end; ++w) {
            sum += LOAD_IN(in[(n * IN_HEIGHT + h) * IN_WIDTH + w]);
          }
        }
        const int32_t area = COUNTS_PADDING != 0 ? (padded_bottom - top) * (padded_right - left)
                                                 : (h_end - h_begin) * (w_end - w_begin);
        const int32_t count = DIVISOR != 0 ? DIVISOR : area;
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] =
            STORE_OUT(count == 0 ? 0.0 : sum / (double)count);
      }
    }
  }
}
