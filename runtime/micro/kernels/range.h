/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* Numbers in equal steps. */
static void NAME(OUT_TYPE *out, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    out[i] = STORE_OUT(START + (ARITHMETIC)i * STEP);
  }
}
