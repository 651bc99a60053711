/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The same as convolution.h, for filters that share no input: up to PART sums of a row of the
 * output run over channels, rows and columns of the filter side by side, each over what is in
 * the input. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const IN_TYPE *from = in + k / per_group * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const IN_TYPE *filter = filters + k % OUT_CHANNELS * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t first = 0; first < OUT_WIDTH; first += PART) {
        const int32_t columns = OUT_WIDTH - first < PART ? OUT_WIDTH - first : PART;
        SUM_TYPE sums[PART] = {0};
        for (int32_t c = 0; c < CHANNELS; ++c) {
          for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
            const int32_t h = p * STRIDE_HEIGHT - PADDING_TOP + r * DILATION_HEIGHT;
            if (h < 0 || h >= IN_HEIGHT) {
              continue;
            }
            const IN_TYPE *row = from + (c * IN_HEIGHT + h) * IN_WIDTH;
            for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
              const SUM_TYPE weight = LOAD_SUM(filter[(c * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
              const int32_t left = first * STRIDE_WIDTH - PADDING_LEFT + s * DILATION_WIDTH;
              const int32_t rest = IN_WIDTH - left;
              const int32_t begin = left >= 0 ? 0 : (STRIDE_WIDTH - 1 - left) / STRIDE_WIDTH;
              const int32_t inside = rest <= 0 ? 0 : (rest - 1) / STRIDE_WIDTH + 1;
              const int32_t end = inside < columns ? inside : columns;
              for (int32_t i = begin; i < end; ++i) {
                sums[i] += LOAD_SUM(row[left + i * STRIDE_WIDTH]) * weight;
              }
            }
          }
        }
        OUT_TYPE *to = out + (k * OUT_HEIGHT + p) * OUT_WIDTH + first;
        for (int32_t i = 0; i < columns; ++i) {
          to[i] = STORE_OUT(start + sums[i]);
        }
      }
    }
  }
}
