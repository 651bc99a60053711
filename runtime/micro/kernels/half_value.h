/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_VALUE_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_VALUE_H_

#include <stdint.h>
#include <string.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

/* The number that the bits of a half stand for; exact. */
static float petrel_half_value(uint16_t bits) {
#if defined(__F16C__)
  return _cvtsh_ss(bits);
#elif defined(__ARM_FP16_FORMAT_IEEE)
  __fp16 half;
  (void)memcpy((void *)&half, (const void *)&bits, sizeof half);
  return (float)half;
#else
  const uint32_t sign = ((uint32_t)bits & 0x8000u) << 16;
  const uint32_t rest = (uint32_t)bits & 0x7fffu;
  uint32_t wide;
  float value;
  if (rest < 0x400u) { /* in units of 2^-24 */
    value = (float)rest * 5.9604644775390625e-8f;
    return sign != 0u ? -value : value;
  }
  wide = sign | ((rest << 13) + (rest < 0x7c00u ? 0x38000000u : 0x70000000u));
  (void)memcpy((void *)&value, (const void *)&wide, sizeof value);
  return value;
#endif
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_VALUE_H_ */
