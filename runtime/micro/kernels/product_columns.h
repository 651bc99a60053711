/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* What is made of in other and perhaps a bias, matrices of floats of ROWS by DEPTH and DEPTH by
 * COLUMNS; sums run over the depth, ascending. TILE rows by some columns are computed at once, and
 * the last of them twice where they are no multiple. There are at least TILE rows and
 * LEAST_COLUMNS columns. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  enum {
    MOST = PETREL_SUMS / TILE,
    VECTORS = LEAST_COLUMNS >= MOST * LANES       ? MOST
              : LEAST_COLUMNS >= MOST / 2 * LANES ? MOST / 2
              : LEAST_COLUMNS >= 2 * LANES        ? 2
                                                  : 1,
    WIDE = VECTORS * LANES
  };
  (void)bias;
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t i = 0; i < ROWS; i += TILE) {
      const int32_t first = n * ROWS + (i + TILE <= ROWS ? i : ROWS - TILE);
      for (int32_t j = 0; j < COLUMNS; j += WIDE) {
        const int32_t column = j + WIDE <= COLUMNS ? j : COLUMNS - WIDE;
        const IN_TYPE *from = other + n * DEPTH * COLUMNS + column;
        const SUM_VECTOR zero = {0};
        SUM_VECTOR sums[TILE][VECTORS];
        for (int32_t t = 0; t < TILE; ++t) {
          PETREL_UNROLL
          for (int32_t v = 0; v < VECTORS; ++v) {
            sums[t][v] = zero;
          }
        }
        for (int32_t k = 0; k < DEPTH; ++k) {
          PETREL_UNROLL
          for (int32_t v = 0; v < VECTORS; ++v) {
            const SUM_VECTOR values = LOAD_LANES(from + v * LANES);
            PETREL_UNROLL
            for (int32_t t = 0; t < TILE; ++t) {
              sums[t][v] = ADD_PRODUCT(sums[t][v], values, LOAD_SUM(in[(first + t) * DEPTH + k]));
            }
          }
          from = &from[COLUMNS];
        }
        for (int32_t t = 0; t < TILE; ++t) {
          SUM_TYPE tile[WIDE];
          (void)memcpy(tile, sums[t], sizeof tile);
          for (int32_t l = 0; l < WIDE; ++l) {
            const int32_t r = first + t;
            const int32_t c = column + l;
            const SUM_TYPE sum = tile[l];
            out[r * COLUMNS + c] = STORE_OUT(FINISH);
          }
        }
      }
    }
  }
}
