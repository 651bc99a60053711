/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* out = a function of in and other, each repeated along the dims where its stride is 0. */
static void NAME(const IN_TYPE *in, const OTHER_TYPE *other, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t in_strides[] = IN_STRIDES;
  static const int32_t other_strides[] = OTHER_STRIDES;
  for (int32_t row = 0; row < ROWS; ++row) {
    const int32_t from = petrel_offset(row, OUTER_RANK, sizes, in_strides);
    const int32_t with = petrel_offset(row, OUTER_RANK, sizes, other_strides);
    for (int32_t i = 0; i < COLUMNS; ++i) {
      const ARITHMETIC x = LOAD_IN(in[from + i * in_strides[OUTER_RANK]]);
      const ARITHMETIC y = LOAD_OTHER(other[with + i * other_strides[OUTER_RANK]]);
      out[row * COLUMNS + i] = STORE_OUT(EXPRESSION);
    }
  }
}
