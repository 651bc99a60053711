/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PETREL_RUNTIME_MICRO_KERNELS_DOTS_H_
#define PETREL_RUNTIME_MICRO_KERNELS_DOTS_H_

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

/* sums[i] += the products of `count` levels with row i of four, which follow one another. Integers,
 * so every order of products is right. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
static void petrel_add_dots(const int8_t *levels, const int8_t *rows, int32_t count,
                            int32_t *sums) {
  int32_t a = sums[0];
  int32_t b = sums[1];
  int32_t c = sums[2];
  int32_t d = sums[3];
  for (int32_t k = 0; k < count; k += 16) {
    const mve_pred16_t some = vctp8q((uint32_t)(count - k));
    const int8x16_t x = vldrbq_z_s8(levels + k, some);
    a = vmladavaq_s8(a, x, vldrbq_z_s8(rows + k, some));
    b = vmladavaq_s8(b, x, vldrbq_z_s8(rows + count + k, some));
    c = vmladavaq_s8(c, x, vldrbq_z_s8(rows + 2 * count + k, some));
    d = vmladavaq_s8(d, x, vldrbq_z_s8(rows + 3 * count + k, some));
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}
#else
#if defined(__AVX2__)

#define PETREL_DOT_LANES 16
typedef __m256i petrel_dot_sums;
typedef __m256i petrel_dot_levels;

static petrel_dot_sums petrel_no_dots(void) { return _mm256_setzero_si256(); }

static petrel_dot_levels petrel_load_dots(const int8_t *levels) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)levels));
}

static petrel_dot_sums petrel_add_lanes(petrel_dot_sums sums, petrel_dot_levels a,
                                        petrel_dot_levels b) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}

static int32_t petrel_sum_lanes(petrel_dot_sums sums) {
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}
#elif defined(__aarch64__) && defined(__ARM_NEON)

#define PETREL_DOT_LANES 16
typedef int32x4_t petrel_dot_sums;
typedef int8x16_t petrel_dot_levels;

static petrel_dot_sums petrel_no_dots(void) { return vdupq_n_s32(0); }

static petrel_dot_levels petrel_load_dots(const int8_t *levels) { return vld1q_s8(levels); }

static petrel_dot_sums petrel_add_lanes(petrel_dot_sums sums, petrel_dot_levels a,
                                        petrel_dot_levels b) {
#if defined(__ARM_FEATURE_DOTPROD)
  return vdotq_s32(sums, a, b);
#else
  sums = vpadalq_s16(sums, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
  return vpadalq_s16(sums, vmull_high_s8(a, b));
#endif
}

static int32_t petrel_sum_lanes(petrel_dot_sums sums) { return vaddvq_s32(sums); }
#else
#define PETREL_DOT_LANES 0
#endif

static void petrel_add_dots(const int8_t *levels, const int8_t *rows, int32_t count,
                            int32_t *sums) {
  const int8_t *const second = rows + count;
  const int8_t *const third = second + count;
  const int8_t *const fourth = third + count;
  int32_t a = sums[0];
  int32_t b = sums[1];
  int32_t c = sums[2];
  int32_t d = sums[3];
  int32_t k = 0;
#if PETREL_DOT_LANES > 0
  petrel_dot_sums e = petrel_no_dots(), f = e, g = e, h = e;
  for (; k + PETREL_DOT_LANES <= count; k += PETREL_DOT_LANES) {
    const petrel_dot_levels x = petrel_load_dots(levels + k);
    e = petrel_add_lanes(e, x, petrel_load_dots(rows + k));
    f = petrel_add_lanes(f, x, petrel_load_dots(second + k));
    g = petrel_add_lanes(g, x, petrel_load_dots(third + k));
    h = petrel_add_lanes(h, x, petrel_load_dots(fourth + k));
  }
  a += petrel_sum_lanes(e);
  b += petrel_sum_lanes(f);
  c += petrel_sum_lanes(g);
  d += petrel_sum_lanes(h);
#endif
  for (; k < count; ++k) {
    const int32_t x = levels[k];
    a += x * rows[k];
    b += x * second[k];
    c += x * third[k];
    d += x * fourth[k];
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}
#endif

#endif /* PETREL_RUNTIME_MICRO_KERNELS_DOTS_H_ */
