/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n of a whole n from -126 to 127. */
static inline float petrel_power_of_two(float n) {
  const int32_t bits = ((int32_t)n + 127) * 8388608;
  float power;
  (void)memcpy((void *)&power, (const void *)&bits, sizeof power);
  return power;
}

/* e^x to 2 parts in 10^7, without branches, so that compilers compute many at once; 0 where that is
 * below 1.8e-38. */
static inline float petrel_fast_exp(float x) {
  const float above = x > -86.9f ? x : -86.9f;
  const float inside = above < 88.73f ? above : 88.73f;
  /* The nearest whole number: beyond 2^23 there are no others. */
  const float k = (inside * 1.44269504f + 12582912.0f) - 12582912.0f;
  const float r = (inside - k * 0.693359375f) + k * 2.12194440e-4f;
  const float tail =
      (((1.38145289e-3f * r + 8.36873893e-3f) * r + 4.16683890e-2f) * r + 1.66665211e-1f) * r +
      4.99999940e-1f;
  const float power = ((tail * r * r + r) + 1.0f) * petrel_power_of_two(k - 1.0f) * 2.0f;
  const float result = x < -86.9f ? 0.0f : power;
  return x != x ? x : x > 88.7228394f ? INFINITY : result;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_ */
