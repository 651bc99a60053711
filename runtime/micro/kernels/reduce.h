/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Each output is made of all elements along the reduced dims, the last dim fastest. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  static const int32_t kept_sizes[] = KEPT_SIZES;
  static const int32_t kept_strides[] = KEPT_STRIDES;
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES;
  for (int32_t k = 0; k < KEPT; ++k) {
    const IN_TYPE *from = in + petrel_offset(k, KEPT_RANK, kept_sizes, kept_strides);
    ARITHMETIC value = START;
    for (int32_t i = 0; i < REDUCED; ++i) {
      const ARITHMETIC x = LOAD_IN(from[petrel_offset(i, RANK, sizes, strides)]);
      value = STEP;
    }
    out[k] = STORE_OUT(FINISH);
  }
}
