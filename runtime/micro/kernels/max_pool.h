/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The largest element of each window of each plane, and which one it is; a NaN counts as the
 * largest. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out, int64_t *indices) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
        const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
        /* A window of padding alone has the place where it would begin. */
        const int32_t down = top < 0 ? (DILATION_HEIGHT - 1 - top) / DILATION_HEIGHT : 0;
        const int32_t along = left < 0 ? (DILATION_WIDTH - 1 - left) / DILATION_WIDTH : 0;
        int32_t place = (top + down * DILATION_HEIGHT) * IN_WIDTH + left + along * DILATION_WIDTH;
        int32_t is_first = 1;
        double best = -(double)INFINITY;
        for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
          const int32_t h = top + r * DILATION_HEIGHT;
          if (h < 0 || h >= IN_HEIGHT) {
            continue;
          }
          for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
            const int32_t w = left + s * DILATION_WIDTH;
            if (w < 0 || w >= IN_WIDTH) {
              continue;
            }
            const double x = LOAD_IN(in[(n * IN_HEIGHT + h) * IN_WIDTH + w]);
            if (is_first || x > best || x != x) {
              best = x;
              place = h * IN_WIDTH + w;
            }
            is_first = 0;
          }
        }
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = STORE_OUT(best);
        indices[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] = (int64_t)place;
      }
    }
  }
}
