/* SPDX-License-Identifier: Apache-2.0
 *
 * Included before XNNPACK's kernels for AVX. gcc 12 turns a blend by the signs of floats into a
 * comparison of integers. AVX does not have that, so gcc goes through the elements one by one,
 * with a branch for each. It leaves an instruction alone that is given by its name.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_BLEND_H_
#define PETREL_THIRD_PARTY_XNNPACK_BLEND_H_

#include <immintrin.h>

static inline __m256 petrel_blendv_ps(__m256 a, __m256 b, __m256 signs) {
  __m256 blend;
  __asm__("vblendvps %3, %2, %1, %0" : "=x"(blend) : "x"(a), "xm"(b), "x"(signs));
  return blend;
}

#define _mm256_blendv_ps petrel_blendv_ps

#endif /* PETREL_THIRD_PARTY_XNNPACK_BLEND_H_ */
