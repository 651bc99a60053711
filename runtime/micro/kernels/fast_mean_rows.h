/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/float_total.h"
#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* The means of rows that follow one another, of floats in floats. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t k = 0; k < KEPT; ++k) {
    const IN_TYPE *from = in + k * REDUCED;
    float sum = 0.0f;
    int32_t i = 0;
#if PETREL_LANES > 1
    petrel_float_lanes lanes = {0};
    for (; i + PETREL_FLOAT_LANES <= REDUCED; i += PETREL_FLOAT_LANES) {
      lanes += petrel_load_floats(from + i);
    }
    sum = petrel_float_total(lanes);
#endif
    for (; i < REDUCED; ++i) {
      sum += from[i];
    }
    out[k] = sum / (float)REDUCED;
  }
}
