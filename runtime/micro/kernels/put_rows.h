/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Writes values into [OUTER, SIZE, INNER] at the slices that `indices` name along the middle
 * dim, where -1 is the last one. Values may be repeated. Returns 0, or 1 when there is no such
 * slice. */
static int32_t NAME(const INDEX_TYPE *indices, const IN_TYPE *values, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES;
  for (int32_t i = 0; i < COUNT; ++i) {
    const int64_t given = (int64_t)indices[i];
    const int64_t index = given < 0 ? given + SIZE : given;
    if (index < 0 || index >= SIZE) {
      return 1;
    }
    for (int32_t n = 0; n < OUTER; ++n) {
      for (int32_t j = 0; j < INNER; ++j) {
        const int32_t to = (n * SIZE + (int32_t)index) * INNER + j;
        const ARITHMETIC x =
            LOAD_IN(values[petrel_offset((n * COUNT + i) * INNER + j, RANK, sizes, strides)]);
        out[to] = STORE_OUT(EXPRESSION);
      }
    }
  }
  return 0;
}
