/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* in [BATCH, GROUPS * CHANNELS, IN_HEIGHT, IN_WIDTH], filters [GROUPS * CHANNELS,
 * OUT_CHANNELS / GROUPS, KERNEL_HEIGHT, KERNEL_WIDTH]: each output is the sum over rows and
 * columns of the filter and the channels of those inputs that reach it, added to its bias. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t out_per_group = OUT_CHANNELS / GROUPS;
  for (int32_t n = 0; n < BATCH; ++n) {
    for (int32_t k = 0; k < OUT_CHANNELS; ++k) {
      const int32_t first = k / out_per_group * CHANNELS;
      const double start = bias == NULL ? 0.0 : LOAD_IN(bias[k]);
      for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
        for (int32_t q = 0; q < OUT_WIDTH; ++q) {
          double sum = 0.0;
          for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
            const int32_t scaled_h = p + PADDING_TOP - r * DILATION_HEIGHT;
            const int32_t h = scaled_h / STRIDE_HEIGHT;
            if (scaled_h < 0 || scaled_h % STRIDE_HEIGHT != 0 || h >= IN_HEIGHT) continue;
            for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
              const int32_t scaled_w = q + PADDING_LEFT - s * DILATION_WIDTH;
              const int32_t w = scaled_w / STRIDE_WIDTH;
              if (scaled_w < 0 || scaled_w % STRIDE_WIDTH != 0 || w >= IN_WIDTH) continue;
              for (int32_t c = first; c < first + CHANNELS; ++c) {
                const int32_t filter = c * out_per_group + k % out_per_group;
                sum += LOAD_IN(in[((n * GROUPS * CHANNELS + c) * IN_HEIGHT + h) * IN_WIDTH + w]) *
                       LOAD_IN(filters[(filter * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
              }
            }
          }
          out[((n * OUT_CHANNELS + k) * OUT_HEIGHT + p) * OUT_WIDTH + q] = STORE_OUT(start + sum);
        }
      }
    }
  }
}
