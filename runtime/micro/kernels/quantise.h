/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/rounded.h"

/* out[i] = the level nearest to in[i], each step rounded to float. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const double x = (double)(float)LOAD_IN(in[i]);
    const double steps = petrel_rounded((double)(float)(x * INVERSE));
    const double level = (double)(float)(steps + ZERO_POINT);
    out[i] = STORE_OUT(level < LEAST ? LEAST : level > MOST ? MOST : level);
  }
}
