/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Elements from where they are to where they belong, perhaps as another type. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t in_strides[] = IN_STRIDES;
  static const int32_t out_strides[] = OUT_STRIDES;
  for (int32_t row = 0; row < ROWS; ++row) {
    const int32_t from = petrel_offset(row, OUTER_RANK, sizes, in_strides);
    const int32_t to = petrel_offset(row, OUTER_RANK, sizes, out_strides);
    for (int32_t i = 0; i < COLUMNS; ++i) {
      out[to + i * out_strides[OUTER_RANK]] =
          STORE_OUT(LOAD_IN(in[from + i * in_strides[OUTER_RANK]]));
    }
  }
}
