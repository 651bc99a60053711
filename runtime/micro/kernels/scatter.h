/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Writes into `out` at the place of each index, but along one dim where it says. Returns 0, or 1
 * when an index is not in [0, SIZE). */
static int32_t NAME(const INDEX_TYPE *indices, const IN_TYPE *source, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t index_strides[] = INDEX_STRIDES;
  static const int32_t source_strides[] = SOURCE_STRIDES;
  static const int32_t strides[] = STRIDES; /* 0 along the dim */
  for (int32_t i = 0; i < COUNT; ++i) {
    const int64_t index = (int64_t)indices[petrel_offset(i, RANK, sizes, index_strides)];
    if (index < 0 || index >= SIZE) {
      return 1;
    }
    const int32_t to = petrel_offset(i, RANK, sizes, strides) + (int32_t)index * STRIDE;
    const ARITHMETIC x = LOAD_IN(source[petrel_offset(i, RANK, sizes, source_strides)]);
    out[to] = STORE_OUT(EXPRESSION);
  }
  return 0;
}
