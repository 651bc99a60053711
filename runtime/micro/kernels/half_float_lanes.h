/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_FLOAT_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_FLOAT_LANES_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/half_value.h"
#include "runtime/micro/kernels/lanes.h"

/* Halves that lie side by side, as floats. */
static inline petrel_float_lanes petrel_half_float_lanes(const uint16_t *from) {
#if PETREL_FLOAT_LANES == 8 && defined(__F16C__)
  return (petrel_float_lanes)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
#else
  float values[PETREL_FLOAT_LANES];
  petrel_float_lanes lanes;
  for (int32_t i = 0; i < PETREL_FLOAT_LANES; ++i) {
    values[i] = petrel_half_value(from[i]);
  }
  (void)memcpy(&lanes, values, sizeof lanes);
  return lanes;
#endif
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_FLOAT_LANES_H_ */
