/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FLOAT_TOTAL_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FLOAT_TOTAL_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"

#if PETREL_LANES > 1
/* The sum of all elements of a vector, by halves. */
static inline float petrel_float_total(petrel_float_lanes lanes) {
  float parts[PETREL_FLOAT_LANES];
  (void)memcpy(parts, &lanes, sizeof parts);
  PETREL_UNROLL
  for (int32_t half = PETREL_FLOAT_LANES / 2; half > 0; half /= 2) {
    PETREL_UNROLL
    for (int32_t l = 0; l < half; ++l) {
      parts[l] += parts[l + half];
    }
  }
  return parts[0];
}
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FLOAT_TOTAL_H_ */
