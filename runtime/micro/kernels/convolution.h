/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* in [BATCH, GROUPS * CHANNELS, IN_HEIGHT, IN_WIDTH], filters [OUT_CHANNELS, CHANNELS,
 * KERNEL_HEIGHT, KERNEL_WIDTH]: each output is the sum over channels, rows and columns of the
 * filter, in this order, added to its
 * bias. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  for (int32_t n = 0; n < BATCH; ++n) {
    for (int32_t k = 0; k < OUT_CHANNELS; ++k) {
      const int32_t first = n * GROUPS * CHANNELS + k / (OUT_CHANNELS / GROUPS) * CHANNELS;
      const double start = bias == NULL ? 0.0 : LOAD_IN(bias[k]);
      for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
        for (int32_t q = 0; q < OUT_WIDTH; ++q) {
          double sum = 0.0;
          for (int32_t c = 0; c < CHANNELS; ++c) {
            for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
              const int32_t h = p * STRIDE_HEIGHT - PADDING_TOP + r * DILATION_HEIGHT;
              if (h < 0 || h >= IN_HEIGHT) continue;
              for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
                const int32_t w = q * STRIDE_WIDTH - PADDING_LEFT + s * DILATION_WIDTH;
                if (w < 0 || w >= IN_WIDTH) continue;
                sum +=
                    LOAD_IN(in[((first + c) * IN_HEIGHT + h) * IN_WIDTH + w]) *
                    LOAD_IN(filters[((k * CHANNELS + c) * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
              }
            }
          }
          out[((n * OUT_CHANNELS + k) * OUT_HEIGHT + p) * OUT_WIDTH + q] = STORE_OUT(start + sum);
        }
      }
    }
  }
}
