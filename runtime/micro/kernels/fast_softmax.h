/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/fast_exp.h"
#include "runtime/micro/kernels/tokens.h"

/* The same as softmax.h, of floats in floats: loops by themselves, so that compilers compute many
 * powers at once. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  for (int32_t n = 0; n < OUTER; ++n) {
    for (int32_t j = 0; j < INNER; ++j) {
      const IN_TYPE *from = in + n * SIZE * INNER + j;
      OUT_TYPE *to = out + n * SIZE * INNER + j;
      float largest = -INFINITY;
      for (int32_t i = 0; i < SIZE; ++i) {
        largest = from[i * INNER] > largest ? from[i * INNER] : largest;
      }
      for (int32_t i = 0; i < SIZE; ++i) {
        to[i * INNER] = petrel_fast_exp(from[i * INNER] - largest);
      }
      float sum = 0.0f;
      for (int32_t i = 0; i < SIZE; ++i) {
        sum += to[i * INNER];
      }
      const float share = 1.0f / sum;
      for (int32_t i = 0; i < SIZE; ++i) {
        to[i * INNER] *= share;
      }
    }
  }
}
