/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/exp.h"
#include "runtime/micro/math/is_larger.h"

/* Rows that are computed side by side, so that what one waits for does not hold up the others;
 * processors without vectors have less memory for it. */
#if PETREL_LANES > 1
#define NAME_AT_ONCE 4
#else
#define NAME_AT_ONCE 1
#endif
#define NAME_POWERS(rows) ((rows)*SIZE)

/* Some rows, at most NAME_AT_ONCE. */
static inline void NAME_ROWS(const IN_TYPE *in, int32_t rows, OUT_TYPE *out) {
  double powers[NAME_POWERS(NAME_AT_ONCE)];
  double largest[NAME_AT_ONCE];
  double sums[NAME_AT_ONCE];
  PETREL_UNROLL_INLINED
  for (int32_t r = 0; r < rows; ++r) {
    largest[r] = -(double)INFINITY;
    sums[r] = 0.0;
  }
  for (int32_t i = 0; i < SIZE; ++i) {
    PETREL_UNROLL_INLINED
    for (int32_t r = 0; r < rows; ++r) {
      const double x = LOAD_IN(in[r * SIZE + i]);
      largest[r] = petrel_is_larger(x, largest[r]) ? x : largest[r];
    }
  }
  for (int32_t r = 0; r < rows; ++r) {
    for (int32_t i = 0; i < SIZE; ++i) {
      powers[r * SIZE + i] = petrel_exp(LOAD_IN(in[r * SIZE + i]) - largest[r]);
    }
  }
  for (int32_t i = 0; i < SIZE; ++i) {
    PETREL_UNROLL_INLINED
    for (int32_t r = 0; r < rows; ++r) {
      sums[r] += powers[r * SIZE + i];
    }
  }
  for (int32_t r = 0; r < rows; ++r) {
    OUT_TYPE made[SIZE]; /* nothing else lies over it, so that many are computed at once */
    for (int32_t i = 0; i < SIZE; ++i) {
      made[i] = STORE_OUT(powers[r * SIZE + i] / sums[r]);
    }
    (void)memcpy(out + r * SIZE, made, sizeof made);
  }
}

/* The same as softmax.h, of OUTER short rows, each of neighbours. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  const int32_t together = OUTER - OUTER % NAME_AT_ONCE;
  for (int32_t n = 0; n < together; n += NAME_AT_ONCE) {
    NAME_ROWS(in + n * SIZE, NAME_AT_ONCE, out + n * SIZE);
  }
  for (int32_t n = together; n < OUTER; ++n) {
    NAME_ROWS(in + n * SIZE, 1, out + n * SIZE);
  }
}
