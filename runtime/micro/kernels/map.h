/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out[i] = a function of in[i]. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const ARITHMETIC x = LOAD_IN(in[i]);
    out[i] = STORE_OUT(EXPRESSION);
  }
}
