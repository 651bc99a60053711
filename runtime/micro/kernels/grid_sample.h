/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "runtime/micro/kernels/tokens.h"
#include "runtime/micro/math/rounded.h"

/* The place along an axis that stands for `at`: beyond the ends itself, the end, or what lies as
 * far before the end. */
static double NAME_PADDED(double at, int32_t size) {
  const double last = (double)(size - 1);
  if (PADDING == 0) {
    return at;
  }
  if (PADDING == 2) {
    const double low = ALIGNS ? 0.0 : -0.5;
    const double span = ALIGNS ? last : (double)size;
    const double distance = fabs(at - low);
    const double extra = span > 0.0 ? fmod(distance, span) : 0.0;
    const double flips = span > 0.0 ? floor(distance / span) : 0.0;
    at = span <= 0.0 ? 0.0 : fmod(flips, 2.0) == 0.0 ? low + extra : low + span - extra;
  }
  return at > 0.0 ? (at < last ? at : last) : 0.0;
}

/* As an index; outside, and its neighbours too, for what no index can be. */
static int64_t NAME_WHOLE(double value) {
  if (!(value > -1e15 && value < 1e15)) {
    return -9;
  }
  return (int64_t)value;
}

/* How much of the four neighbours of a point at `t` in [0, 1) after the second. */
static double NAME_CUBIC(double t, int32_t neighbour) {
  const double a = -0.75;
  const double x = neighbour == 0   ? t + 1.0
                   : neighbour == 1 ? t
                   : neighbour == 2 ? 1.0 - t
                                    : 2.0 - t;
  if (neighbour == 1 || neighbour == 2) {
    return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  }
  return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
}

/* Samples of each [IN_HEIGHT, IN_WIDTH] at the points (x, y) of a grid, whose corners are -1 and
 * 1. Elements that do not exist count as 0. */
static void NAME(const IN_TYPE *in, const IN_TYPE *grid, OUT_TYPE *out) {
  for (int32_t i = 0; i < BATCH * OUT_PLACES; ++i) {
    const double grid_x = LOAD_IN(grid[2 * i]) + 1.0;
    const double grid_y = LOAD_IN(grid[2 * i + 1]) + 1.0;
    const double width = (double)IN_WIDTH;
    const double height = (double)IN_HEIGHT;
    const double x = ALIGNS ? grid_x / 2.0 * (width - 1.0) : (grid_x * width - 1.0) / 2.0;
    const double y = ALIGNS ? grid_y / 2.0 * (height - 1.0) : (grid_y * height - 1.0) / 2.0;
    /* Bicubic pads each neighbour by itself. */
    const double at_x = CUBIC ? x : NAME_PADDED(x, IN_WIDTH);
    const double at_y = CUBIC ? y : NAME_PADDED(y, IN_HEIGHT);
    const double left = TAPS == 1 ? petrel_rounded(at_x) : floor(at_x);
    const double top = TAPS == 1 ? petrel_rounded(at_y) : floor(at_y);
    const double dx = at_x - left;
    const double dy = at_y - top;
    /* NaN at a place that is no number, of which the nearest element does not exist. */
    const double start = TAPS == 1 ? 0.0 : (at_x - at_x) + (at_y - at_y);
    int32_t offsets[TAPS * TAPS] = {0};
    double weights[TAPS * TAPS] = {0};
    int32_t count = 0;
    for (int32_t p = 0; p < TAPS; ++p) {
      const int64_t row =
          CUBIC ? NAME_WHOLE(NAME_PADDED(top - 1.0 + (double)p, IN_HEIGHT)) : NAME_WHOLE(top) + p;
      const double share = TAPS == 1 ? 1.0 : CUBIC ? NAME_CUBIC(dy, p) : p == 0 ? 1.0 - dy : dy;
      if (row < 0 || row >= IN_HEIGHT) {
        continue;
      }
      for (int32_t q = 0; q < TAPS; ++q) {
        const int64_t column = CUBIC ? NAME_WHOLE(NAME_PADDED(left - 1.0 + (double)q, IN_WIDTH))
                                     : NAME_WHOLE(left) + q;
        if (column < 0 || column >= IN_WIDTH) {
          continue;
        }
        offsets[count] = (int32_t)row * IN_WIDTH + (int32_t)column;
        weights[count++] = share * (TAPS == 1 ? 1.0
                                    : CUBIC   ? NAME_CUBIC(dx, q)
                                    : q == 0  ? 1.0 - dx
                                              : dx);
      }
    }
    const int32_t n = i / OUT_PLACES;
    for (int32_t c = n * CHANNELS; c < (n + 1) * CHANNELS; ++c) {
      double sum = start;
      for (int32_t k = 0; k < count; ++k) {
        sum += weights[k] * LOAD_IN(in[c * IN_HEIGHT * IN_WIDTH + offsets[k]]);
      }
      out[c * OUT_PLACES + i % OUT_PLACES] = STORE_OUT(sum);
    }
  }
}
