/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The mean of each window of each plane, where window i of n covers from i / n of the plane
 * to (i + 1) / n, both rounded outwards. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < PLANES; ++n) {
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const int32_t h_begin = p * IN_HEIGHT / OUT_HEIGHT;
      const int32_t h_end = ((p + 1) * IN_HEIGHT + OUT_HEIGHT - 1) / OUT_HEIGHT;
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int32_t w_begin = q * IN_WIDTH / OUT_WIDTH;
        const int32_t w_end = ((q + 1) * IN_WIDTH + OUT_WIDTH - 1) / OUT_WIDTH;
        double sum = 0.0;
        for (int32_t h = h_begin; h < h_end; ++h) {
          for (int32_t w = w_begin; w < w_end; ++w) {
            sum += LOAD_IN(in[(n * IN_HEIGHT + h) * IN_WIDTH + w]);
          }
        }
        out[(n * OUT_HEIGHT + p) * OUT_WIDTH + q] =
            STORE_OUT(sum / (double)((h_end - h_begin) * (w_end - w_begin)));
      }
    }
  }
}
