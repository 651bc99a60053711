/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_ADD_PAIRS_H_
#define PETREL_RUNTIME_MICRO_MATH_ADD_PAIRS_H_

#include <stdint.h>

/* sum + the products of both int16 of two words, modulo 2^32. */
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
static int32_t petrel_add_pairs(uint32_t a, uint32_t b, int32_t sum) {
  int32_t result;
  __asm__ volatile("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}
#else
static int32_t petrel_add_pairs(uint32_t a, uint32_t b, int32_t sum) {
  const int32_t low = ((int32_t)(a & 0xffffu) ^ 0x8000) - 0x8000;
  const int32_t high = ((int32_t)(a >> 16) ^ 0x8000) - 0x8000;
  const int32_t low_of_b = ((int32_t)(b & 0xffffu) ^ 0x8000) - 0x8000;
  const int32_t high_of_b = ((int32_t)(b >> 16) ^ 0x8000) - 0x8000;
  return (int32_t)((uint32_t)sum + (uint32_t)(low * low_of_b) + (uint32_t)(high * high_of_b));
}
#endif

#endif /* PETREL_RUNTIME_MICRO_MATH_ADD_PAIRS_H_ */
