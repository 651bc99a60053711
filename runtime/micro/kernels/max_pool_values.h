/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The same as max_pool.h, of floats where nobody asks which element it is: a row of the output at
 * once, one place of the window after another. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES * OUT_HEIGHT; ++n) {
    const IN_TYPE *plane = in + n / OUT_HEIGHT * (IN_HEIGHT * IN_WIDTH);
    OUT_TYPE *row = out + n * OUT_WIDTH;
    for (int32_t q = 0; q < OUT_WIDTH; ++q) {
      row[q] = (OUT_TYPE)-INFINITY;
    }
    for (int32_t t = 0; t < KERNEL_HEIGHT * KERNEL_WIDTH; ++t) {
      const int32_t h =
          n % OUT_HEIGHT * STRIDE_HEIGHT - PADDING_TOP + t / KERNEL_WIDTH * DILATION_HEIGHT;
      if (h < 0 || h >= IN_HEIGHT) {
        continue;
      }
      const int32_t left = t % KERNEL_WIDTH * DILATION_WIDTH - PADDING_LEFT;
      const int32_t rest = IN_WIDTH - left;
      const int32_t begin = left >= 0 ? 0 : (STRIDE_WIDTH - 1 - left) / STRIDE_WIDTH;
      const int32_t inside = rest <= 0 ? 0 : (rest - 1) / STRIDE_WIDTH + 1;
      const int32_t end = inside < OUT_WIDTH ? inside : OUT_WIDTH;
      for (int32_t q = begin; q < end; ++q) {
        const IN_TYPE x = plane[h * IN_WIDTH + left + q * STRIDE_WIDTH];
        const IN_TYPE larger = x > row[q] ? x : row[q];
        row[q] = x != x ? x : larger;
      }
    }
  }
}
