/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_ONE_WINDOW_H_
#define PETREL_RUNTIME_MICRO_KERNELS_ONE_WINDOW_H_

#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* A part of kernels. */

/* One output, whose window begins at `top` and `left`: the sum over channels, rows and columns of
 * the filter, in this order. */
static SUM_TYPE NAME_ONE(const IN_TYPE *in, const IN_TYPE *filter, int32_t top, int32_t left) {
  SUM_TYPE sum = (SUM_TYPE)0;
  for (int32_t c = 0; c < CHANNELS; ++c) {
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
        sum += LOAD_SUM(in[(c * IN_HEIGHT + h) * IN_WIDTH + w]) *
               LOAD_SUM(filter[(c * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
      }
    }
  }
  return sum;
}

/* One channel of the output, place by place. */
static void NAME_SINGLY(const IN_TYPE *in, const IN_TYPE *filter, SUM_TYPE start, OUT_TYPE *to) {
  for (int32_t i = 0; i < OUT_HEIGHT * OUT_WIDTH; ++i) {
    const int32_t top = i / OUT_WIDTH * STRIDE_HEIGHT - PADDING_TOP;
    const int32_t left = i % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
    to[i] = STORE_OUT(start + NAME_ONE(in, filter, top, left));
  }
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_ONE_WINDOW_H_ */
