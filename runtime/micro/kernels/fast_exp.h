/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_
#define PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

/* x, but no less than -86.9 and no more than 88.7228394, or NaN. */
static inline float petrel_exp_range(float x) {
  const float above = x < -86.9f ? -86.9f : x;
  return above > 88.7228394f ? 88.7228394f : above;
}

/* e^x to 2 parts in 10^7, of what petrel_exp_range() gives, without branches, so that compilers
 * compute many at once. */
static inline float petrel_exp_inside(float x) {
  /* The nearest whole number, which the last bits have too: beyond 2^23 there are no others. */
  const float shifted = x * 1.44269504f + 12582912.0f;
  const float k = shifted - 12582912.0f;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  const float tail =
      (((1.38145289e-3f * r + 8.36873893e-3f) * r + 4.16683890e-2f) * r + 1.66665211e-1f) * r +
      4.99999940e-1f;
  uint32_t bits;
  float half; /* of 2^k, which may be more than a float holds */
  (void)memcpy((void *)&bits, (const void *)&shifted, sizeof bits);
  bits = (bits + 126u) << 23;
  (void)memcpy((void *)&half, (const void *)&bits, sizeof half);
  return ((tail * r * r + r) + 1.0f) * half * 2.0f;
}

/* The same of any x; 0 where e^x is below 1.8e-38. */
static inline float petrel_fast_exp(float x) {
  const float power = petrel_exp_inside(petrel_exp_range(x));
  const float result = x < -86.9f ? 0.0f : power;
  return x > 88.7228394f ? INFINITY : result;
}

#endif /* PETREL_RUNTIME_MICRO_KERNELS_FAST_EXP_H_ */
