/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* One number where the mask is set and elements of `in` elsewhere. */
static void NAME(const bool *mask, const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t mask_strides[] = CONDITION_STRIDES;
  static const int32_t in_strides[] = IN_STRIDES;
  for (int32_t i = 0; i < COUNT; ++i) {
    const bool is_set = mask[petrel_offset(i, RANK, sizes, mask_strides)];
    out[i] =
        STORE_OUT(is_set ? EXPRESSION : LOAD_IN(in[petrel_offset(i, RANK, sizes, in_strides)]));
  }
}
