/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_BITS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_BITS_H_

#include <stdint.h>
#include <string.h>

/* The bfloat16 nearest to x, of two the even one. */
static uint16_t petrel_bfloat16_bits(float x) {
  uint32_t wide;
  (void)memcpy((void *)&wide, (const void *)&x, sizeof wide);
  if ((wide & 0x7fffffffu) > 0x7f800000u) {
    return 0x7fc0u;
  }
  return (uint16_t)((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_BITS_H_ */
