/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_HALVES_H_
#define PETREL_RUNTIME_MICRO_MATH_HALVES_H_

#include <stdint.h>

/* sum + a * b of the low or the high int16 of two words, modulo 2^32. */
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
static int32_t petrel_add_low(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__ volatile("smlabb %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

static int32_t petrel_add_high(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__ volatile("smlatt %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
#else
static int32_t petrel_add_low(uint32_t a, uint32_t b, int32_t sum) {
  const int32_t x = ((int32_t)(a & 0xffffu) ^ 0x8000) - 0x8000;
  const int32_t y = ((int32_t)(b & 0xffffu) ^ 0x8000) - 0x8000;
  return (int32_t)((uint32_t)sum + (uint32_t)(x * y));
}

static int32_t petrel_add_high(uint32_t a, uint32_t b, int32_t sum) {
  return petrel_add_low(a >> 16, b >> 16, sum);
}
#endif

#endif /* PETREL_RUNTIME_MICRO_MATH_HALVES_H_ */
