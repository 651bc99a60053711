/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_COVERED_H_
#define PETREL_RUNTIME_MICRO_KERNELS_COVERED_H_

#include <math.h>
#include <stdint.h>

/* How many places of `in` one of `out` is. */
static double petrel_covered_step(int32_t in, int32_t out, double scale, int32_t aligns) {
  if (aligns != 0) {
    return out > 1 ? ((double)in - 1.0) / (double)(out - 1) : 0.0;
  }
  return scale > 0.0 ? scale : (double)in / (double)out;
}

/* The place, of `in` and one behind, that begins at `at`. */
static int32_t petrel_covered_place(double at, int32_t in) {
  if (!(at > 0.0)) {
    return 0;
  }
  return at >= (double)in ? in : (int32_t)at;
}

/* How much a place counts that is so far from the center of a triangle. */
static double petrel_covered_weight(int32_t place, double center, double inverse) {
  const double x = ((double)place - center + 0.5) * inverse;
  return x > -1.0 && x < 1.0 ? 1.0 - fabs(x) : 0.0;
}

static double petrel_covered_total(int32_t first, int32_t end, double center, double inverse) {
  double total = 0.0;
  for (int32_t place = first; place < end; ++place) {
    total += petrel_covered_weight(place, center, inverse);
  }
  return total;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_COVERED_H_ */
