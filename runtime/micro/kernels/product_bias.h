/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* out = in other + bias, matrices of ROWS by DEPTH and DEPTH by COLUMNS, both parts scaled;
 * sums run over the depth, ascending, and the bias comes last. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  for (int32_t i = 0; i < ROWS; ++i) {
    for (int32_t j = 0; j < COLUMNS; ++j) {
      ARITHMETIC sum = (ARITHMETIC)0;
      for (int32_t k = 0; k < DEPTH; ++k) {
        sum += LOAD_IN(in[i * DEPTH + k]) * LOAD_IN(other[k * DEPTH_STRIDE + j * COLUMN_STRIDE]);
      }
      const ARITHMETIC b = LOAD_IN(bias[i * BIAS_ROW_STRIDE + j * BIAS_COLUMN_STRIDE]);
      out[i * COLUMNS + j] = STORE_OUT(FINISH);
    }
  }
}
