/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Which element along the reduced dims is best; the first of equal ones. */
static void NAME(const IN_TYPE *in, int64_t *places) {
  static const int32_t kept_sizes[] = KEPT_SIZES;
  static const int32_t kept_strides[] = KEPT_STRIDES;
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES;
  for (int32_t k = 0; k < KEPT; ++k) {
    const IN_TYPE *from = in + petrel_offset(k, KEPT_RANK, kept_sizes, kept_strides);
    ARITHMETIC value = LOAD_IN(from[0]);
    places[k] = 0;
    for (int32_t i = 1; i < REDUCED; ++i) {
      const ARITHMETIC x = LOAD_IN(from[petrel_offset(i, RANK, sizes, strides)]);
      if (EXPRESSION) {
        value = x;
        places[k] = i;
      }
    }
  }
}
