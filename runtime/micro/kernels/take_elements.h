/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* As take_rows, where -1 names the last slice. */
static int32_t NAME(const IN_TYPE *in, const INDEX_TYPE *indices, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t i = 0; i < COUNT; ++i) {
      const int64_t given = (int64_t)indices[i];
      const int64_t index = given < 0 ? given + SIZE : given;
      if (index < 0 || index >= SIZE) {
        return 1;
      }
      for (int32_t j = 0; j < INNER; ++j) {
        out[(n * COUNT + i) * INNER + j] = in[(n * SIZE + (int32_t)index) * INNER + j];
      }
    }
  }
  return 0;
}
