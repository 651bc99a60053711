/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_PAIRS_H_
#define PETREL_RUNTIME_MICRO_MATH_PAIRS_H_

#include <stdint.h>
#include <string.h>

/* Two int16 in a word, which Cortex-M4, M7 and M33 multiply at once. Volatile keeps gcc from moving
 * them so far that registers run out. */
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
/* Bytes 0 and 2, with signs. */
static uint32_t petrel_even_bytes(uint32_t word) {
  uint32_t pair;
  __asm__ volatile("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}

/* Bytes 1 and 3. */
static uint32_t petrel_odd_bytes(uint32_t word) {
  uint32_t pair;
  __asm__ volatile("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
#else
static uint32_t petrel_even_bytes(uint32_t word) {
  const uint32_t low = (((word & 0xffu) ^ 0x80u) - 0x80u) & 0xffffu;
  return low | (((word >> 16 & 0xffu) ^ 0x80u) - 0x80u) << 16;
}

static uint32_t petrel_odd_bytes(uint32_t word) { return petrel_even_bytes(word >> 8); }
#endif

/* Four levels side by side, the first in the lowest byte. */
static uint32_t petrel_load_word(const int8_t *levels) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint32_t word;
  (void)memcpy(&word, levels, sizeof word);
  return word;
#else
  return (uint32_t)(uint8_t)levels[0] | (uint32_t)(uint8_t)levels[1] << 8 |
         (uint32_t)(uint8_t)levels[2] << 16 | (uint32_t)(uint8_t)levels[3] << 24;
#endif
}

#endif /* PETREL_RUNTIME_MICRO_MATH_PAIRS_H_ */
