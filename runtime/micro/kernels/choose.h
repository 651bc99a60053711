/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* Elements of `in` where the condition holds and of `other` elsewhere, each repeated along
 * the dims where its stride is 0. */
static void NAME(const bool *condition, const IN_TYPE *in, const OTHER_TYPE *other, OUT_TYPE *out) {
  static const int32_t sizes[] = SIZES;
  static const int32_t condition_strides[] = CONDITION_STRIDES;
  static const int32_t in_strides[] = IN_STRIDES;
  static const int32_t other_strides[] = OTHER_STRIDES;
  for (int32_t i = 0; i < COUNT; ++i) {
    const bool holds = condition[petrel_offset(i, RANK, sizes, condition_strides)];
    out[i] = STORE_OUT(holds ? LOAD_IN(in[petrel_offset(i, RANK, sizes, in_strides)])
                             : LOAD_OTHER(other[petrel_offset(i, RANK, sizes, other_strides)]));
  }
}
