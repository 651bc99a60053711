/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/rounded.h"
#include "runtime/micro/math/to_integer.h"

/* For each of ROWS a scale and a zero point with which levels of 8 bits reach its COLUMNS elements,
 * and 0: from its lowest or from its highest, whichever they are exacter for. */
static void NAME(const IN_TYPE *in, double *scales, int64_t *zeros) {
  for (int32_t r = 0; r < ROWS; ++r) {
    const IN_TYPE *row = in + r * COLUMNS;
    double least = 0.0;
    double most = 0.0;
    for (int32_t i = 0; i < COLUMNS && least == least; ++i) {
      const double x = LOAD_IN(row[i]);
      least = x != x || x < least ? x : least;
      most = x != x || x > most ? x : most;
    }
    const double step = ROUND(ROUND(most - least) / 255.0);
    scales[r] = step < LEAST_STEP ? LEAST_STEP : step;
    const double low = ROUND(least / scales[r]);
    const double high = ROUND(most / scales[r]);
    const double error = ROUND(ROUND(-128.0 + low) + ROUND(127.0 + high));
    const double zero = error > 0.0 ? ROUND(-128.0 - low) : ROUND(127.0 - high);
    const double inside = zero < -128.0 ? -128.0 : zero > 127.0 ? 127.0 : zero;
    zeros[r] = petrel_to_integer(petrel_rounded(inside));
  }
}
