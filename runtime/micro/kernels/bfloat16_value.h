/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_VALUE_H_
#define PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_VALUE_H_

#include <stdint.h>
#include <string.h>

/* The number that the bits of a bfloat16 stand for; exact. */
static float petrel_bfloat16_value(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  (void)memcpy((void *)&value, (const void *)&wide, sizeof value);
  return value;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_BFLOAT16_VALUE_H_ */
