/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_STORE_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_STORE_LANES_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* A part of kernels: writes a vector of sums. */
static inline void NAME_STORE(SUM_VECTOR sums, OUT_TYPE *to) {
#if IN_IS_SUM
  (void)memcpy(to, &sums, sizeof sums);
#else
  SUM_TYPE lanes[LANES];
  (void)memcpy(lanes, &sums, sizeof lanes);
  for (int32_t l = 0; l < LANES; ++l) {
    to[l] = STORE_OUT(lanes[l]);
  }
#endif
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_STORE_LANES_H_ */
