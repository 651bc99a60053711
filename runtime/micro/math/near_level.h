/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_MATH_NEAR_LEVEL_H_
#define PETREL_RUNTIME_MICRO_MATH_NEAR_LEVEL_H_

#include <stdint.h>

/* petrel_level() for a shift that is larger by 33, of a product that does not lie halfway between
 * two steps: then the upper half of it decides. */
static int32_t petrel_near_level(int64_t product, int32_t shift, int32_t zero_point, int32_t least,
                                 int32_t most) {
  const int32_t twice = ((int32_t)(product >> 32) >> shift) + 2 * zero_point + 1;
#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)
  if (least == -128 && most == 127) {
    int32_t saturated;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(saturated) : "r"(twice) : "cc");
    return saturated;
  }
#endif
  const int32_t level = twice >> 1;
  return level < least ? least : level > most ? most : level;
}

#endif /* PETREL_RUNTIME_MICRO_MATH_NEAR_LEVEL_H_ */
