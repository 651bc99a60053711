/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/fast_exp.h"
#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* Rows that are computed side by side, so that what one waits for does not hold up the others. */
#define NAME_AT_ONCE 4

/* Some rows, at most NAME_AT_ONCE. */
static inline void NAME_ROWS(const IN_TYPE *in, int32_t rows, OUT_TYPE *out) {
  float powers[NAME_AT_ONCE * SIZE];
  float largest[NAME_AT_ONCE];
  float sums[NAME_AT_ONCE];
  PETREL_UNROLL_INLINED
  for (int32_t r = 0; r < rows; ++r) {
    largest[r] = -INFINITY;
    sums[r] = 0.0f;
  }
  for (int32_t i = 0; i < SIZE; ++i) {
    PETREL_UNROLL_INLINED
    for (int32_t r = 0; r < rows; ++r) {
      const float x = in[r * SIZE + i];
      largest[r] = x > largest[r] ? x : largest[r];
    }
  }
  for (int32_t r = 0; r < rows; ++r) {
    for (int32_t i = 0; i < SIZE; ++i) {
      powers[r * SIZE + i] = petrel_fast_exp(in[r * SIZE + i] - largest[r]);
    }
  }
  for (int32_t i = 0; i < SIZE; ++i) {
    PETREL_UNROLL_INLINED
    for (int32_t r = 0; r < rows; ++r) {
      sums[r] += powers[r * SIZE + i];
    }
  }
  for (int32_t r = 0; r < rows; ++r) {
    const float share = 1.0f / sums[r];
    for (int32_t i = 0; i < SIZE; ++i) {
      out[r * SIZE + i] = powers[r * SIZE + i] * share;
    }
  }
}

/* The same as fast_softmax.h, of OUTER short rows, each of neighbours. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  const int32_t together = OUTER - OUTER % NAME_AT_ONCE;
  for (int32_t n = 0; n < together; n += NAME_AT_ONCE) {
    NAME_ROWS(in + n * SIZE, NAME_AT_ONCE, out + n * SIZE);
  }
  for (int32_t n = together; n < OUTER; ++n) {
    NAME_ROWS(in + n * SIZE, 1, out + n * SIZE);
  }
}
