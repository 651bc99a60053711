/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The larger one; a NaN is the largest. */
static inline IN_TYPE NAME_LARGER(IN_TYPE best, IN_TYPE x) {
  const IN_TYPE larger = x > best ? x : best;
  return x != x ? x : larger;
}

/* Of a window that may reach beyond the plane. */
static IN_TYPE NAME_ONE(const IN_TYPE *plane, int32_t top, int32_t left) {
  IN_TYPE best = (IN_TYPE)-INFINITY;
  for (int32_t t = 0; t < KERNEL_HEIGHT * KERNEL_WIDTH; ++t) {
    const int32_t h = top + t / KERNEL_WIDTH * DILATION_HEIGHT;
    const int32_t w = left + t % KERNEL_WIDTH * DILATION_WIDTH;
    if (h >= 0 && h < IN_HEIGHT && w >= 0 && w < IN_WIDTH) {
      best = NAME_LARGER(best, plane[h * IN_WIDTH + w]);
    }
  }
  return best;
}

/* The same as max_pool.h, of floats where nobody asks which element it is. Windows inside the plane
 * ask for no bounds, so that compilers compute many of a row at once. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  /* Rows and columns of the output, from one to before another, whose windows are inside. */
  const int32_t first_row = (PADDING_TOP + STRIDE_HEIGHT - 1) / STRIDE_HEIGHT;
  const int32_t first = (PADDING_LEFT + STRIDE_WIDTH - 1) / STRIDE_WIDTH;
  const int32_t tall = IN_HEIGHT + PADDING_TOP - (KERNEL_HEIGHT - 1) * DILATION_HEIGHT;
  const int32_t wide = IN_WIDTH + PADDING_LEFT - (KERNEL_WIDTH - 1) * DILATION_WIDTH;
  const int32_t end_row = tall < 1 ? 0 : (tall - 1) / STRIDE_HEIGHT + 1;
  const int32_t inside = wide < 1 ? 0 : (wide - 1) / STRIDE_WIDTH + 1;
  const int32_t end = inside < OUT_WIDTH ? inside : OUT_WIDTH;
  for (int32_t n = 0; n < PLANES * OUT_HEIGHT; ++n) {
    const IN_TYPE *plane = in + n / OUT_HEIGHT * (IN_HEIGHT * IN_WIDTH);
    const int32_t p = n % OUT_HEIGHT;
    const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
    OUT_TYPE *row = out + n * OUT_WIDTH;
    if (p >= first_row && p < end_row) {
      const IN_TYPE *from = plane + top * IN_WIDTH - PADDING_LEFT;
      for (int32_t q = first; q < end; ++q) {
        IN_TYPE best = from[q * STRIDE_WIDTH];
        for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
          for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
            best = NAME_LARGER(
                best, from[r * DILATION_HEIGHT * IN_WIDTH + q * STRIDE_WIDTH + s * DILATION_WIDTH]);
          }
        }
        row[q] = best;
      }
    }
    for (int32_t q = 0; q < OUT_WIDTH; ++q) {
      if (p < first_row || p >= end_row || q < first || q >= end) {
        row[q] = NAME_ONE(plane, top, q * STRIDE_WIDTH - PADDING_LEFT);
      }
    }
  }
}
