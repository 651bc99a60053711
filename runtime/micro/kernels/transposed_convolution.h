/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

#define NAME_PART 64

/* in [BATCH, GROUPS * CHANNELS, IN_HEIGHT, IN_WIDTH], filters [GROUPS * CHANNELS,
 * OUT_CHANNELS / GROUPS, KERNEL_HEIGHT, KERNEL_WIDTH]: each output is the sum over rows and
 * columns of the filter and the channels of those inputs that reach it, added to its bias. The
 * outputs of a row that are STRIDE_WIDTH apart are reached by the same columns of the filter from
 * neighbours, so up to NAME_PART of their sums run side by side. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t out_per_group = OUT_CHANNELS / GROUPS;
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const int32_t first = k % OUT_CHANNELS / out_per_group * CHANNELS;
    const IN_TYPE *from =
        in + (k / OUT_CHANNELS * GROUPS * CHANNELS + first) * (IN_HEIGHT * IN_WIDTH);
    const IN_TYPE *filter =
        filters + (first * out_per_group + k % out_per_group) * (KERNEL_HEIGHT * KERNEL_WIDTH);
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH;
           q += q % STRIDE_WIDTH < STRIDE_WIDTH - 1 ? 1 : (NAME_PART - 1) * STRIDE_WIDTH + 1) {
        const int32_t rest = (OUT_WIDTH - q - 1) / STRIDE_WIDTH + 1;
        const int32_t count = rest < NAME_PART ? rest : NAME_PART;
        SUM_TYPE sums[NAME_PART] = {0};
        for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
          const int32_t scaled_h = p + PADDING_TOP - r * DILATION_HEIGHT;
          const int32_t h = scaled_h / STRIDE_HEIGHT;
          if (scaled_h < 0 || scaled_h % STRIDE_HEIGHT != 0 || h >= IN_HEIGHT) {
            continue;
          }
          for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
            const int32_t scaled_w = q + PADDING_LEFT - s * DILATION_WIDTH;
            if (scaled_w % STRIDE_WIDTH != 0) {
              continue;
            }
            const int32_t w = scaled_w / STRIDE_WIDTH;
            const int32_t begin = w < 0 ? -w : 0;
            const int32_t end = IN_WIDTH - w < count ? IN_WIDTH - w : count;
            for (int32_t c = 0; c < CHANNELS; ++c) {
              const IN_TYPE *row = from + (c * IN_HEIGHT + h) * IN_WIDTH;
              const SUM_TYPE weight =
                  LOAD_SUM(filter[(c * out_per_group * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
              for (int32_t i = begin; i < end; ++i) {
                sums[i] += LOAD_SUM(row[w + i]) * weight;
              }
            }
          }
        }
        OUT_TYPE *to = out + (k * OUT_HEIGHT + p) * OUT_WIDTH + q;
        for (int32_t i = 0; i < count; ++i) {
          to[i * STRIDE_WIDTH] = STORE_OUT(start + sums[i]);
        }
      }
    }
  }
}
