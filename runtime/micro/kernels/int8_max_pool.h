/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"

/* The largest level of each window: first index, end and step of each row and column of the
 * output are in the lists. */
static void NAME(const IN_TYPE *in, OUT_TYPE *out) {
  WINDOWS rows[] = WINDOWS_OF_ROWS;
  WINDOWS columns[] = WINDOWS_OF_COLUMNS;
  for (int32_t n = 0; n < PLANES; ++n) {
    const IN_TYPE *plane = in + n / CHANNELS * IN_BATCH + n % CHANNELS * IN_PLANE;
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        IN_TYPE best = plane[rows[3 * p] * IN_ROW + columns[3 * q] * IN_COLUMN];
        for (int32_t h = rows[3 * p]; h < rows[3 * p + 1]; h += rows[3 * p + 2]) {
          for (int32_t w = columns[3 * q]; w < columns[3 * q + 1]; w += columns[3 * q + 2]) {
            const IN_TYPE level = plane[h * IN_ROW + w * IN_COLUMN];
            if (level > best) {
              best = level;
            }
          }
        }
        out[n / CHANNELS * OUT_BATCH + n % CHANNELS * OUT_PLANE + p * OUT_ROW + q * OUT_COLUMN] =
            best;
      }
    }
  }
}
