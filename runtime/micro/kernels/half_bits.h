/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_HALF_BITS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_HALF_BITS_H_

#include <stdint.h>
#include <string.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

/* The half nearest to x, of two the even one. */
static uint16_t petrel_half_bits(float x) {
#if defined(__F16C__)
  return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
#elif defined(__ARM_FP16_FORMAT_IEEE)
  const __fp16 half = (__fp16)x;
  uint16_t bits;
  (void)memcpy((void *)&bits, (const void *)&half, sizeof bits);
  return bits;
#else
  uint32_t wide;
  uint32_t units;
  (void)memcpy((void *)&wide, (const void *)&x, sizeof wide);
  const uint32_t sign = (wide >> 16) & 0x8000u;
  const uint32_t rest = wide & 0x7fffffffu;
  if (rest > 0x7f800000u) {
    units = 0x7e00u;
  } else if (rest >= 0x477ff000u) { /* from 65520 on */
    units = 0x7c00u;
  } else if (rest >= 0x38800000u) { /* from 2^-14 on */
    units = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
  } else if (rest > 0x33000000u) { /* above 2^-25, in units of 2^-24; a carry is 2^-14 */
    const uint32_t shift = (126u - (rest >> 23)) & 31u;
    const uint32_t fraction = (rest & 0x7fffffu) | 0x800000u;
    units = (fraction + ((uint32_t)1u << (shift - 1u)) - 1u + ((fraction >> shift) & 1u)) >> shift;
  } else {
    units = 0u;
  }
  return (uint16_t)(sign | units);
#endif
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_HALF_BITS_H_ */
