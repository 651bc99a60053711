/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_FLOAT_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_FLOAT_LANES_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/bfloat16_value.h"
#include "runtime/micro/kernels/lanes.h"

/* Numbers of bfloat16 that lie side by side, as floats. */
static inline petrel_float_lanes petrel_bfloat16_float_lanes(const uint16_t *from) {
  float values[PETREL_FLOAT_LANES];
  petrel_float_lanes lanes;
  for (int32_t i = 0; i < PETREL_FLOAT_LANES; ++i) {
    values[i] = petrel_bfloat16_value(from[i]);
  }
  (void)memcpy(&lanes, values, sizeof lanes);
  return lanes;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_FLOAT_LANES_H_ */
