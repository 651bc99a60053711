/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* out[i] is the element of `in` at the place of i, but along one dim at indices[i]. Returns 0,
 * or 1 when an index is not in [0, SIZE). */
static int32_t NAME(const IN_TYPE *in, const INDEX_TYPE *indices, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES; /* 0 along the dim */
  for (int32_t i = 0; i < COUNT; ++i) {
    const int64_t index = (int64_t)indices[i];
    if (index < 0 || index >= SIZE) {
      return 1;
    }
    out[i] = in[petrel_offset(i, RANK, sizes, strides) + (int32_t)index * STRIDE];
  }
  return 0;
}
