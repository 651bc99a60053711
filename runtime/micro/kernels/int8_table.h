/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out[i] = what the table has for the level in[i], the least of which is FIRST. */
static void NAME(const IN_TYPE *in, const OUT_TYPE *table, OUT_TYPE *out, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    out[i] = table[(int32_t)in[i] - FIRST];
  }
}
