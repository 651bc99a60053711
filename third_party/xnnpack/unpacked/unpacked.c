/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/unpacked/unpacked.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

/* Outputs of a vector: a block of UNPACKED_BLOCK has two. */
#define HALF 8
/* Floats of a line of the cache: each row is read by whole ones. */
#define LINE 16
/* Rows at a multiple of 4 KB share a set of the first-level cache, which keeps eight lines and
 * more. The second half of a block is so many floats behind the first, in other sets. */
#define BEHIND 128
/* Floats of a row of weights from what is multiplied to what is brought to the second-level cache.
 * Behind the end of a row those of the next block's begin. */
#define AHEAD 256

/* The rows of eight outputs. Those that are not there are the last one. */
struct half {
  const float* rows[HALF];
};

static struct half half_of(const struct unpacked_layer* layer, size_t first, size_t count) {
  struct half half;
  for (size_t i = 0; i < HALF; i++) {
    half.rows[i] = layer->weights + layer->inputs * (first + (i < count ? i : count - 1));
  }
  return half;
}

/* Four inputs of two rows, in a lane each. */
static inline __attribute__((always_inline)) __m256 two_rows(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

static inline __attribute__((always_inline)) __m256 low_pairs(__m256 a, __m256 b) {
  return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

static inline __attribute__((always_inline)) __m256 high_pairs(__m256 a, __m256 b) {
  return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

/* Adds the inputs k to k + 3, in their order. */
static inline __attribute__((always_inline)) __m256 add_four(__m256 sum, const struct half* half,
                                                             size_t k, const float* x) {
  const float* const* rows = half->rows;
  const __m256 row04 = two_rows(rows[0] + k, rows[4] + k);
  const __m256 row15 = two_rows(rows[1] + k, rows[5] + k);
  const __m256 row26 = two_rows(rows[2] + k, rows[6] + k);
  const __m256 row37 = two_rows(rows[3] + k, rows[7] + k);
  const __m256 low01 = _mm256_unpacklo_ps(row04, row15), high01 = _mm256_unpackhi_ps(row04, row15);
  const __m256 low23 = _mm256_unpacklo_ps(row26, row37), high23 = _mm256_unpackhi_ps(row26, row37);
  sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + k), low_pairs(low01, low23), sum);
  sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + k + 1), high_pairs(low01, low23), sum);
  sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + k + 2), low_pairs(high01, high23), sum);
  return _mm256_fmadd_ps(_mm256_broadcast_ss(x + k + 3), high_pairs(high01, high23), sum);
}

static inline __attribute__((always_inline)) __m256 add_line(__m256 sum, const struct half* half,
                                                             size_t k, size_t inputs,
                                                             const float* x) {
  const size_t later = k + AHEAD < inputs ? k + AHEAD : k + AHEAD + (UNPACKED_BLOCK - 1) * inputs;
#pragma GCC unroll 8
  for (int i = 0; i < HALF; i++) _mm_prefetch((const char*)(half->rows[i] + later), _MM_HINT_T1);
#pragma GCC unroll 4
  for (size_t i = 0; i < LINE; i += 4) sum = add_four(sum, half, k + i, x);
  return sum;
}

/* Adds the inputs behind the last whole line. */
static __m256 add_rest(__m256 sum, const struct half* half, size_t inputs, const float* x) {
  size_t k = inputs / LINE * LINE;
  for (; k + 4 <= inputs; k += 4) sum = add_four(sum, half, k, x);
  for (; k < inputs; k++) {
    float column[HALF];
    for (int i = 0; i < HALF; i++) column[i] = half->rows[i][k];
    sum = _mm256_fmadd_ps(_mm256_broadcast_ss(x + k), _mm256_loadu_ps(column), sum);
  }
  return sum;
}

/* Of the first `count` of a vector's elements, at most all. */
static __m256i mask_of(size_t count) {
  static const int32_t bits[2 * HALF] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i*)(bits + HALF - count));
}

static __m256 first_sum(const struct unpacked_layer* layer, size_t first, size_t count) {
  if (layer->bias == NULL) return _mm256_setzero_ps();
  return _mm256_maskload_ps(layer->bias + first, mask_of(count));
}

static void store(const struct unpacked_layer* layer, __m256 sum, size_t count, float* out) {
  /* Bounds come first: of a sum that is not a number, both keep it. */
  sum = _mm256_max_ps(_mm256_set1_ps(layer->low), sum);
  sum = _mm256_min_ps(_mm256_set1_ps(layer->high), sum);
  _mm256_maskstore_ps(out, mask_of(count), sum);
}

static void run_half(const struct unpacked_layer* layer, const float* x, size_t first, size_t count,
                     float* out) {
  const struct half half = half_of(layer, first, count);
  __m256 sum = first_sum(layer, first, count);
  for (size_t k = 0; k + LINE <= layer->inputs; k += LINE) {
    sum = add_line(sum, &half, k, layer->inputs, x);
  }
  store(layer, add_rest(sum, &half, layer->inputs, x), count, out + first);
}

/* A block of which `count` outputs are there, more than a half. */
static void run_block(const struct unpacked_layer* layer, const float* x, size_t first,
                      size_t count, float* out) {
  const size_t inputs = layer->inputs, lines = inputs / LINE * LINE;
  const struct half a = half_of(layer, first, HALF);
  const struct half b = half_of(layer, first + HALF, count - HALF);
  __m256 sum_a = first_sum(layer, first, HALF);
  __m256 sum_b = first_sum(layer, first + HALF, count - HALF);
  for (size_t k = 0; k < lines + BEHIND; k += LINE) {
    if (k < lines) sum_a = add_line(sum_a, &a, k, inputs, x);
    if (k >= BEHIND && k - BEHIND < lines) sum_b = add_line(sum_b, &b, k - BEHIND, inputs, x);
  }
  store(layer, add_rest(sum_a, &a, inputs, x), HALF, out + first);
  store(layer, add_rest(sum_b, &b, inputs, x), count - HALF, out + first + HALF);
}

void unpacked_run_fma3(const struct unpacked_layer* layer, size_t row, size_t first, size_t count) {
  const float* x = layer->input + row * layer->input_stride;
  float* out = layer->output + row * layer->output_stride;
  const size_t end = first + count;
  for (; first < end; first += UNPACKED_BLOCK) {
    const size_t left = end - first < UNPACKED_BLOCK ? end - first : UNPACKED_BLOCK;
    if (left <= HALF) {
      run_half(layer, x, first, left, out);
    } else {
      run_block(layer, x, first, left, out);
    }
  }
}

#endif
