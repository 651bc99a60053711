/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level_of_share.h"
#include "runtime/micro/math/square_root.h"

/* Rows of SIZE levels less their mean, over the root of their variance, times the weight of
 * each, and its bias: all over 2^SPREAD times as much, so that the root has bits enough. */
static void NAME(const IN_TYPE *in, const int32_t *weight, const int32_t *bias, OUT_TYPE *out) {
  for (int32_t row = 0; row < ROWS; ++row) {
    const int32_t begin = row * SIZE;
    int64_t sum = 0, squares = 0, root;
    for (int32_t i = 0; i < SIZE; ++i) {
      const int64_t level = in[begin + i];
      sum += level;
      squares += level * level;
    }
    root =
        petrel_square_root((SIZE * squares - sum * sum) * ((int64_t)1 << (2 * SPREAD)) + EPSILON);
    root = root < 1 ? 1 : root;
    for (int32_t i = 0; i < SIZE; ++i) {
      const int32_t c = (begin + i) / REPEAT % WIDTH;
      const int64_t difference = SIZE * (int64_t)in[begin + i] - sum;
      out[begin + i] =
          (OUT_TYPE)petrel_level_of_share(difference * weight[c] + root * bias[c],
                                          root * ((int64_t)1 << SHIFT), OUT_ZERO, LEAST, MOST);
    }
  }
}
