/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* What is computed at once: vectors beside one another, and their elements. */
#define NAME_MOST (PETREL_SUMS / TILE)
#define NAME_VECTORS                                        \
  (LEAST_COLUMNS >= NAME_MOST * LANES       ? NAME_MOST     \
   : LEAST_COLUMNS >= NAME_MOST / 2 * LANES ? NAME_MOST / 2 \
   : LEAST_COLUMNS >= 2 * LANES             ? 2             \
                                            : 1)
#define NAME_WIDE (NAME_VECTORS * LANES)
#define NAME_PLACE(v) ((v)*LANES)

/* What is made of in other and perhaps a bias, matrices of floats of ROWS by DEPTH and DEPTH by
 * COLUMNS; sums run over the depth, ascending. TILE rows by some columns are computed at once, and
 * the last of them twice where they are no multiple. There are at least TILE rows and
 * LEAST_COLUMNS columns. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  (void)bias;
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t i = 0; i < ROWS; i += TILE) {
      const int32_t first = n * ROWS + (i + TILE <= ROWS ? i : ROWS - TILE);
      for (int32_t j = 0; j < COLUMNS; j += NAME_WIDE) {
        const int32_t column = j + NAME_WIDE <= COLUMNS ? j : COLUMNS - NAME_WIDE;
        const IN_TYPE *from = other + n * DEPTH * COLUMNS + column;
        const SUM_VECTOR zero = {0};
        SUM_VECTOR sums[TILE][NAME_VECTORS];
        for (int32_t t = 0; t < TILE; ++t) {
          PETREL_UNROLL
          for (int32_t v = 0; v < NAME_VECTORS; ++v) {
            sums[t][v] = zero;
          }
        }
        for (int32_t k = 0; k < DEPTH; ++k) {
          SUM_VECTOR values[NAME_VECTORS];
          PETREL_UNROLL
          for (int32_t v = 0; v < NAME_VECTORS; ++v) {
            values[v] = LOAD_LANES(from + NAME_PLACE(v));
            if (TILE > 1) {
              PETREL_KEEP(values[v]);
            }
          }
          PETREL_UNROLL
          for (int32_t t = 0; t < TILE; ++t) {
            const SUM_TYPE factor = LOAD_SUM(in[(first + t) * DEPTH + k]);
            PETREL_UNROLL
            for (int32_t v = 0; v < NAME_VECTORS; ++v) {
              sums[t][v] = ADD_PRODUCT(sums[t][v], values[v], factor);
            }
          }
          from = &from[COLUMNS];
        }
        PETREL_UNROLL
        for (int32_t t = 0; t < TILE; ++t) {
          PETREL_UNROLL
          for (int32_t v = 0; v < NAME_VECTORS; ++v) {
            SUM_TYPE lanes[LANES];
            (void)memcpy(lanes, &sums[t][v], sizeof lanes);
            for (int32_t l = 0; l < LANES; ++l) {
              const int32_t r = first + t;
              const int32_t c = column + NAME_PLACE(v) + l;
              const SUM_TYPE sum = lanes[l];
              out[r * COLUMNS + c] = STORE_OUT(FINISH);
            }
          }
        }
      }
    }
  }
}
