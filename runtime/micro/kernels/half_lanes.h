/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_LANES_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/half_value.h"
#include "runtime/micro/kernels/lanes.h"

/* Halves that lie side by side, as doubles. */
static inline petrel_lanes petrel_half_lanes(const uint16_t *from) {
#if PETREL_LANES == 8 && defined(__F16C__)
  const __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)from);
  return (petrel_lanes)_mm512_cvtps_pd(_mm256_cvtph_ps(bits));
#elif PETREL_LANES == 4 && defined(__F16C__)
  const __m128i bits = _mm_loadl_epi64((const __m128i *)(const void *)from);
  return (petrel_lanes)_mm256_cvtps_pd(_mm_cvtph_ps(bits));
#else
  double values[PETREL_LANES];
  petrel_lanes lanes;
  for (int32_t i = 0; i < PETREL_LANES; ++i) {
    values[i] = (double)petrel_half_value(from[i]);
  }
  (void)memcpy(&lanes, values, sizeof lanes);
  return lanes;
#endif
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_LANES_H_ */
