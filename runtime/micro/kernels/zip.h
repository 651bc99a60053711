/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out[i] = a function of in[i] and other[i]. */
static void NAME(const IN_TYPE *in, const OTHER_TYPE *other, OUT_TYPE *out, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const ARITHMETIC x = LOAD_IN(in[i]);
    const ARITHMETIC y = LOAD_OTHER(other[i]);
    out[i] = STORE_OUT(EXPRESSION);
  }
}
