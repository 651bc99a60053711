/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* How many vectors of sums are computed at once, so that all columns are a multiple of them. */
#define NAME_FITS(n) ((n) <= PETREL_SUMS && COLUMNS / LANES % (n) == 0)
#define NAME_VECTORS    \
  (NAME_FITS(16)   ? 16 \
   : NAME_FITS(12) ? 12 \
   : NAME_FITS(8)  ? 8  \
   : NAME_FITS(6)  ? 6  \
   : NAME_FITS(5)  ? 5  \
   : NAME_FITS(4)  ? 4  \
   : NAME_FITS(3)  ? 3  \
   : NAME_FITS(2)  ? 2  \
                   : 1)
#define NAME_WIDE (NAME_VECTORS * LANES)
#define NAME_PLACE(v) ((v)*LANES)

/* An element of 0 changes no sum where the second matrix has finite numbers only: a sum that begins
 * with 0 is never -0. LEAVES_ZEROS: the matrix is so, and zeros are likely. */
#define NAME_COUNTS(factor) (LEAVES_ZEROS == 0 || (factor) != (SUM_TYPE)0)

#if LEAVES_ZEROS && PETREL_LANES > 1 && PETREL_STACK_BYTES >= 65536
/* Adds to some columns of sums `count` rows of the second matrix, which begin at `places`, each
 * times its element of the first. */
static inline void NAME_ADD(const IN_TYPE *other, const SUM_TYPE *factors, const int32_t *places,
                            int32_t count, SUM_TYPE *sums) {
  SUM_VECTOR lanes[NAME_VECTORS];
  (void)memcpy(lanes, sums, sizeof lanes);
  for (int32_t k = 0; k < count; ++k) {
    const IN_TYPE *from = other + places[k];
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      lanes[v] = ADD_PRODUCT(lanes[v], LOAD_LANES(from + NAME_PLACE(v)), factors[k]);
    }
  }
  (void)memcpy(sums, lanes, sizeof lanes);
}
#endif

/* The same as product_columns.h, of one row; columns are a multiple of what a processor takes at
 * once. Where the stack has room, elements that count are found before, PART at a time. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t r = 0;
  (void)bias;
  (void)r;
#if LEAVES_ZEROS && PETREL_LANES > 1 && PETREL_STACK_BYTES >= 65536
  SUM_TYPE sums[COLUMNS] = {0};
  SUM_TYPE factors[PART];
  int32_t places[PART];
  for (int32_t begin = 0; begin < DEPTH; begin += PART) {
    const int32_t end = DEPTH - begin < PART ? DEPTH : begin + PART;
    int32_t count = 0;
    for (int32_t k = begin; k < end; ++k) {
      factors[count] = LOAD_SUM(in[k]);
      places[count] = k * COLUMNS;
      count += NAME_COUNTS(factors[count]) ? 1 : 0;
    }
    for (int32_t c = 0; c < COLUMNS; c += NAME_WIDE) {
      NAME_ADD(other + c, factors, places, count, sums + c);
    }
  }
  for (int32_t c = 0; c < COLUMNS; ++c) {
    const SUM_TYPE sum = sums[c];
    out[c] = STORE_OUT(FINISH);
  }
#else
  for (int32_t begin = 0; begin < COLUMNS; begin += NAME_WIDE) {
    SUM_TYPE lanes[NAME_WIDE] = {0};
    SUM_VECTOR sums[NAME_VECTORS];
    (void)memcpy(sums, lanes, sizeof sums);
    for (int32_t k = 0; k < DEPTH; ++k) {
      const SUM_TYPE factor = LOAD_SUM(in[k]);
      const IN_TYPE *from = other + k * COLUMNS + begin;
      if (!NAME_COUNTS(factor)) {
        continue;
      }
      PETREL_UNROLL
      for (int32_t v = 0; v < NAME_VECTORS; ++v) {
        sums[v] = ADD_PRODUCT(sums[v], LOAD_LANES(from + NAME_PLACE(v)), factor);
      }
    }
    (void)memcpy(lanes, sums, sizeof lanes);
    for (int32_t c = begin; c < begin + NAME_WIDE; ++c) {
      const SUM_TYPE sum = lanes[c - begin];
      out[c] = STORE_OUT(FINISH);
    }
  }
#endif
}
