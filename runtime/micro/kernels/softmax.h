/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/exp.h"
#include "runtime/micro/math/is_larger.h"

/* Along the middle dim of [OUTER, SIZE, INNER]: e^(x - largest), and what is made of it and
 * its sum. PART powers at once, so that compilers compute many together, are summed in their
 * order. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  double powers[PART];
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t j = 0; j < INNER; ++j) {
      const int32_t first = n * SIZE * INNER + j;
      double largest = -(double)INFINITY;
      for (int32_t i = 0; i < SIZE; ++i) {
        const double x = LOAD_IN(in[first + i * INNER]);
        largest = petrel_is_larger(x, largest) ? x : largest;
      }
      double sum = 0.0;
      for (int32_t begin = 0; begin < SIZE; begin += PART) {
        const int32_t count = SIZE - begin < PART ? SIZE - begin : PART;
        for (int32_t i = 0; i < count; ++i) {
          powers[i] = petrel_exp(LOAD_IN(in[first + (begin + i) * INNER]) - largest);
        }
        for (int32_t i = 0; i < count; ++i) {
          sum += powers[i];
        }
      }
      const double total = TOTAL;
      for (int32_t i = 0; i < SIZE; ++i) {
        const double x = LOAD_IN(in[first + i * INNER]) - largest;
        out[first + i * INNER] = STORE_OUT(EXPRESSION);
        (void)x;
      }
    }
  }
}
