/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/sigmoid.h"

/* The first half along a dim, times the sigmoid of the second. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t i = 0; i < INNER; ++i) {
      const double x = LOAD_IN(in[2 * n * INNER + i]);
      const double gate = LOAD_IN(in[(2 * n + 1) * INNER + i]);
      out[n * INNER + i] = STORE_OUT(x * petrel_sigmoid(gate));
    }
  }
}
