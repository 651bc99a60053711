/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/level_of_share.h"

/* The sum of each window divided by two numbers: first index, end and divisor of each row and
 * column of the output are in the lists. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  WINDOWS rows[] = WINDOWS_OF_ROWS;
  WINDOWS columns[] = WINDOWS_OF_COLUMNS;
  for (int32_t n = 0; n < PLANES; ++n) {
    const IN_TYPE *plane = in + n / CHANNELS * IN_BATCH + n % CHANNELS * IN_PLANE;
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        const int64_t divisor = (int64_t)rows[3 * p + 2] * columns[3 * q + 2];
        int32_t sum = 0;
        for (int32_t h = rows[3 * p]; h < rows[3 * p + 1]; ++h) {
          for (int32_t w = columns[3 * q]; w < columns[3 * q + 1]; ++w) {
            sum += (int32_t)plane[h * IN_ROW + w * IN_COLUMN] - IN_ZERO;
          }
        }
        out[n / CHANNELS * OUT_BATCH + n % CHANNELS * OUT_PLANE + p * OUT_ROW + q * OUT_COLUMN] =
            (OUT_TYPE)petrel_level_of_share((int64_t)sum * MULTIPLIER,
                                            divisor * ((int64_t)1 << SHIFT), OUT_ZERO, LEAST, MOST);
      }
    }
  }
}
