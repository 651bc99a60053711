/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_QUADS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_QUADS_H_

#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"

#if PETREL_LANES > 1
/* Four floats of each of PETREL_QUADS rows become four columns, and these become rows again: in
 * vectors of one quad, or two. */
#if defined(__AVX__)
#define PETREL_QUADS 8
#else
#define PETREL_QUADS 4
#endif
typedef float petrel_quads __attribute__((vector_size(4 * PETREL_QUADS)));
typedef int32_t petrel_quad_places __attribute__((vector_size(4 * PETREL_QUADS)));

/* Elements of each quad of `a`, and from PETREL_QUADS on of `b`. */
#if defined(__clang__) && defined(__AVX__)
#define PETREL_MIX(a, b, i, j, k, l) \
  __builtin_shufflevector(a, b, i, j, k, l, (i) + 4, (j) + 4, (k) + 4, (l) + 4)
#elif defined(__clang__)
#define PETREL_MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define PETREL_MIX petrel_mix
PETREL_UNUSED static inline petrel_quads petrel_mix(petrel_quads a, petrel_quads b, int32_t i,
                                                    int32_t j, int32_t k, int32_t l) {
#if defined(__AVX__)
  const petrel_quad_places places = {i, j, k, l, i + 4, j + 4, k + 4, l + 4};
#else
  const petrel_quad_places places = {i, j, k, l};
#endif
  return (petrel_quads)__builtin_shuffle(a, b, places);
}
#endif

/* Quads of four rows, which are `apart`, and of the four behind them. */
PETREL_UNUSED static inline void petrel_load_quads(const float *from, int32_t apart,
                                                   petrel_quads quads[4]) {
  PETREL_UNROLL
  for (int32_t r = 0; r < 4; ++r) {
#if defined(__AVX__)
    quads[r] =
        (petrel_quads)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + r * apart)),
                                           _mm_loadu_ps(from + (r + 4) * apart), 1);
#else
    (void)memcpy(&quads[r], from + r * apart, sizeof quads[r]);
#endif
  }
}

PETREL_UNUSED static inline void petrel_store_quads(const petrel_quads quads[4], int32_t apart,
                                                    float *to) {
  PETREL_UNROLL
  for (int32_t r = 0; r < 4; ++r) {
#if defined(__AVX__)
    _mm_storeu_ps(to + r * apart, _mm256_castps256_ps128((__m256)quads[r]));
    _mm_storeu_ps(to + (r + 4) * apart, _mm256_extractf128_ps((__m256)quads[r], 1));
#else
    (void)memcpy(to + r * apart, &quads[r], sizeof quads[r]);
#endif
  }
}

PETREL_UNUSED static inline void petrel_turn_quads(petrel_quads quads[4]) {
  enum { B = PETREL_QUADS };
  const petrel_quads a = PETREL_MIX(quads[0], quads[1], 0, B, 1, B + 1);
  const petrel_quads b = PETREL_MIX(quads[0], quads[1], 2, B + 2, 3, B + 3);
  const petrel_quads c = PETREL_MIX(quads[2], quads[3], 0, B, 1, B + 1);
  const petrel_quads d = PETREL_MIX(quads[2], quads[3], 2, B + 2, 3, B + 3);
  quads[0] = PETREL_MIX(a, c, 0, 1, B, B + 1);
  quads[1] = PETREL_MIX(a, c, 2, 3, B + 2, B + 3);
  quads[2] = PETREL_MIX(b, d, 0, 1, B, B + 1);
  quads[3] = PETREL_MIX(b, d, 2, 3, B + 2, B + 3);
}
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_QUADS_H_ */
