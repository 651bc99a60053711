/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Elements of `in` that the first INDICES index tensors name together, each along a dim of its
 * own, where -1 is the last one. Returns 0, or 1 when there is no such element. */
static int32_t NAME(const INDEX_TYPE *first, const INDEX_TYPE *second, const INDEX_TYPE *third,
                    const INDEX_TYPE *fourth, const IN_TYPE *in, OUT_TYPE *out) {
  const INDEX_TYPE *const indices[] = {first, second, third, fourth};
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES;             /* of `in`; 0 along what indices name */
  static const int32_t index_strides[] = INDEX_STRIDES; /* RANK of them for each */
  static const int32_t limits[] = LIMITS;
  static const int32_t steps[] = STEPS;
  for (int32_t i = 0; i < COUNT; ++i) {
    int32_t from = petrel_offset(i, RANK, sizes, strides);
    for (int32_t k = 0; k < INDICES; ++k) {
      const int32_t place = petrel_offset(i, RANK, sizes, index_strides + k * RANK);
      const int64_t given = (int64_t)indices[k][place];
      const int64_t index = given < 0 ? given + limits[k] : given;
      if (index < 0 || index >= limits[k]) {
        return 1;
      }
      from += (int32_t)index * steps[k];
    }
    out[i] = in[from];
  }
  return 0;
}
