/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/offset.h"
#include "runtime/micro/kernels/tokens.h"

/* The squares of what deviates from the mean along the reduced dims, over FREEDOM; and the
 * mean, where somebody wants it. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out, OUT_TYPE *means) {
  static const int32_t kept_sizes[] = KEPT_SIZES;
  static const int32_t kept_strides[] = KEPT_STRIDES;
  static const int32_t sizes[] = SIZES;
  static const int32_t strides[] = STRIDES;
  const double count = (double)REDUCED; /* not a literal: there may be nothing, and a mean of NaN */
  for (int32_t k = 0; k < KEPT; ++k) {
    const IN_TYPE *from = in + petrel_offset(k, KEPT_RANK, kept_sizes, kept_strides);
    double sum = 0.0;
    for (int32_t i = 0; i < REDUCED; ++i) {
      sum += LOAD_IN(from[petrel_offset(i, RANK, sizes, strides)]);
    }
    const double mean = sum / count;
    double squares = 0.0;
    for (int32_t i = 0; i < REDUCED; ++i) {
      const double d = LOAD_IN(from[petrel_offset(i, RANK, sizes, strides)]) - mean;
      squares += d * d;
    }
    out[k] = STORE_OUT(squares / FREEDOM);
    if (means != NULL) {
      means[k] = STORE_OUT(mean);
    }
  }
}
