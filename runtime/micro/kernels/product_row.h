/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* Adds `count` rows of the second matrix, at most 4, each times its element of the first. */
static inline void NAME_ROWS(const IN_TYPE *in, const IN_TYPE *rows, int32_t count,
                             SUM_TYPE *sums) {
  for (int32_t j = 0; j < COLUMNS; j += LANES) {
    SUM_VECTOR sum;
    (void)memcpy(&sum, sums + j, sizeof sum);
    PETREL_UNROLL
    for (int32_t k = 0; k < count; ++k) {
      sum = ADD_PRODUCT(sum, LOAD_LANES(rows + k * COLUMNS + j), LOAD_SUM(in[k]));
    }
    (void)memcpy(sums + j, &sum, sizeof sum);
  }
}

/* The same as product_columns.h, of one row and a second matrix that is larger than the nearest
 * cache: it is read once, from its first element to its last. Columns are a multiple of what a
 * processor takes at once. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t fours = DEPTH / 4 * 4;
  SUM_TYPE sums[COLUMNS] = {0};
  (void)bias;
  for (int32_t k = 0; k < fours; k += 4) {
    NAME_ROWS(in + k, other + k * COLUMNS, 4, sums);
  }
  for (int32_t k = fours; k < DEPTH; ++k) {
    NAME_ROWS(in + k, other + k * COLUMNS, 1, sums);
  }
  for (int32_t c = 0; c < COLUMNS; ++c) {
    const int32_t r = 0;
    const SUM_TYPE sum = sums[c];
    out[c] = STORE_OUT(FINISH);
    (void)r;
  }
}
