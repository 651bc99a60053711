/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

static inline ARITHMETIC NAME_STEP(ARITHMETIC value, ARITHMETIC x) { return STEP; }

static inline OUT_TYPE NAME_FINISH(ARITHMETIC value) { return STORE_OUT(FINISH); }

/* The same as reduce.h, of rows that follow one another: four of them side by side, each in its own
 * order. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  const int32_t fours = KEPT / 4 * 4;
  for (int32_t k = 0; k < fours; k += 4) {
    const IN_TYPE *first = &in[k * REDUCED];
    const IN_TYPE *second = first + REDUCED;
    const IN_TYPE *third = second + REDUCED;
    const IN_TYPE *fourth = third + REDUCED;
    ARITHMETIC a = START;
    ARITHMETIC b = START;
    ARITHMETIC c = START;
    ARITHMETIC d = START;
    for (int32_t i = 0; i < REDUCED; ++i) {
      a = NAME_STEP(a, LOAD_IN(first[i]));
      b = NAME_STEP(b, LOAD_IN(second[i]));
      c = NAME_STEP(c, LOAD_IN(third[i]));
      d = NAME_STEP(d, LOAD_IN(fourth[i]));
    }
    out[k] = NAME_FINISH(a);
    out[k + 1] = NAME_FINISH(b);
    out[k + 2] = NAME_FINISH(c);
    out[k + 3] = NAME_FINISH(d);
  }
  for (int32_t k = fours; k < KEPT; ++k) {
    ARITHMETIC value = START;
    for (int32_t i = 0; i < REDUCED; ++i) {
      value = NAME_STEP(value, LOAD_IN(in[k * REDUCED + i]));
    }
    out[k] = NAME_FINISH(value);
  }
}
