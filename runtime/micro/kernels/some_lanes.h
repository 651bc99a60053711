/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_SOME_LANES_H_
#define PETREL_RUNTIME_MICRO_KERNELS_SOME_LANES_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* A part of kernels: writes the first `count` elements of a vector of sums. */
__attribute__((noinline)) static void NAME_STORE_SOME(SUM_VECTOR sums, int32_t count,
                                                      OUT_TYPE *to) {
  SUM_TYPE lanes[LANES];
  (void)memcpy(lanes, &sums, sizeof lanes);
  for (int32_t l = 0; l < count && l < LANES; ++l) {
    to[l] = STORE_OUT(lanes[l]);
  }
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_SOME_LANES_H_ */
