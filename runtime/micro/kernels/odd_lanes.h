/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_ODD_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_ODD_LANES_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* A part of kernels: whether an element is no number. */
static bool NAME_IS_ODD(SUM_VECTOR sums) {
  SUM_TYPE lanes[LANES];
  bool is_odd = false;
  (void)memcpy(lanes, &sums, sizeof lanes);
  for (int32_t l = 0; l < LANES; ++l) {
    is_odd = is_odd || lanes[l] != lanes[l];
  }
  return is_odd;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_ODD_LANES_H_ */
