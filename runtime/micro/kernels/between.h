/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BETWEEN_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BETWEEN_H_

#include <stdint.h>

/* Which place of `in`, perhaps between two, is place `i` of `out`. */
static double petrel_between(int32_t i, int32_t in, int32_t out, double scale, int32_t aligns) {
  double at;
  if (aligns != 0) {
    return out > 1 ? (double)i * (double)(in - 1) / (double)(out - 1) : 0.0;
  }
  at = (scale > 0.0 ? scale : (double)in / (double)out) * ((double)i + 0.5) - 0.5;
  return at > 0.0 ? at : 0.0;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BETWEEN_H_ */
