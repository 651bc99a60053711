/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/unpacked/unpacked.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#define BLOCK 8
/* Floats of a row of weights from what is multiplied to what is brought to the cache. Behind the
 * end of a row those of the next block's begin. */
#define AHEAD 128

/* Vector i of `rows` becomes element i of all. */
static inline __attribute__((always_inline)) void turn(__m256 rows[BLOCK]) {
  __m256 pairs[BLOCK], fours[BLOCK];
#pragma GCC unroll 4
  for (int i = 0; i < BLOCK; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < BLOCK; i += 4) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
      const __m256d a = _mm256_castps_pd(pairs[i + j]), b = _mm256_castps_pd(pairs[i + 2 + j]);
      fours[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
      fours[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    rows[j] = _mm256_permute2f128_ps(fours[j], fours[4 + j], 0x20);
    rows[4 + j] = _mm256_permute2f128_ps(fours[j], fours[4 + j], 0x31);
  }
}

/* Of the first `count` of a vector's elements, at most all. */
static inline __m256i mask_of(size_t count) {
  static const int32_t bits[2 * BLOCK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i*)(bits + BLOCK - count));
}

/* A block of which `count` outputs are there. Those that are not read the last one's weights. */
static void run_block(const struct unpacked_layer* layer, const float* x, size_t first,
                      size_t count, float* out) {
  const size_t inputs = layer->inputs;
  const float* from[BLOCK];
  for (size_t i = 0; i < BLOCK; i++) {
    from[i] = layer->weights + inputs * (first + (i < count ? i : count - 1));
  }
  const __m256i there = mask_of(count);
  __m256 sum =
      layer->bias == NULL ? _mm256_setzero_ps() : _mm256_maskload_ps(layer->bias + first, there);
  __m256 rows[BLOCK];
  size_t k = 0;
  for (; k + BLOCK <= inputs; k += BLOCK) {
    const size_t later = k + AHEAD < inputs ? k + AHEAD : k + AHEAD + (BLOCK - 1) * inputs;
#pragma GCC unroll 8
    for (int i = 0; i < BLOCK; i++) {
      rows[i] = _mm256_loadu_ps(from[i] + k);
      if (k % 16 == 0) _mm_prefetch((const char*)(from[i] + later), _MM_HINT_T0);
    }
    turn(rows);
#pragma GCC unroll 8
    for (int i = 0; i < BLOCK; i++) {
      sum = _mm256_fmadd_ps(_mm256_set1_ps(x[k + (size_t)i]), rows[i], sum);
    }
  }
  if (k < inputs) {
    const __m256i rest = mask_of(inputs - k);
#pragma GCC unroll 8
    for (int i = 0; i < BLOCK; i++) rows[i] = _mm256_maskload_ps(from[i] + k, rest);
    turn(rows);
#pragma GCC unroll 8
    for (int i = 0; i < BLOCK; i++) {
      if (k + (size_t)i < inputs) {
        sum = _mm256_fmadd_ps(_mm256_set1_ps(x[k + (size_t)i]), rows[i], sum);
      }
    }
  }
  /* Bounds come first: of a sum that is not a number, both keep it. */
  sum = _mm256_max_ps(_mm256_set1_ps(layer->low), sum);
  sum = _mm256_min_ps(_mm256_set1_ps(layer->high), sum);
  _mm256_maskstore_ps(out + first, there, sum);
}

void unpacked_run_fma3(const struct unpacked_layer* layer, size_t row, size_t first, size_t count) {
  const float* x = layer->input + row * layer->input_stride;
  float* out = layer->output + row * layer->output_stride;
  for (size_t done = 0; done < count; done += BLOCK) {
    const size_t left = count - done;
    run_block(layer, x, first + done, left < BLOCK ? left : BLOCK, out);
  }
}

#endif
