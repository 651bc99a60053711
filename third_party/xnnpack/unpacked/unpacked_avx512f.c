/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/unpacked/unpacked.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCK UNPACKED_BLOCK
/* Floats of a row of weights from what is multiplied to what is brought to the second-level cache:
 * rows at a multiple of 4 KB share a set of the first, which keeps fewer of them. Behind the end of
 * a row those of the next block's begin. */
#define AHEAD 128

/* Vector i of `rows` becomes element i of all. */
static inline __attribute__((always_inline)) void turn(__m512 rows[BLOCK]) {
  __m512 pairs[BLOCK], fours[BLOCK];
#pragma GCC unroll 8
  for (int i = 0; i < BLOCK; i += 2) {
    pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < BLOCK; i += 4) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
      const __m512d a = _mm512_castps_pd(pairs[i + j]), b = _mm512_castps_pd(pairs[i + 2 + j]);
      fours[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      fours[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  }
  /* Lane l of fours[4 g + j] has the elements 4 l + j of rows 4 g to 4 g + 3. */
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m512 a = fours[j], b = fours[4 + j], c = fours[8 + j], d = fours[12 + j];
    const __m512 even_ab = _mm512_shuffle_f32x4(a, b, 0x88);
    const __m512 odd_ab = _mm512_shuffle_f32x4(a, b, 0xDD);
    const __m512 even_cd = _mm512_shuffle_f32x4(c, d, 0x88);
    const __m512 odd_cd = _mm512_shuffle_f32x4(c, d, 0xDD);
    rows[j] = _mm512_shuffle_f32x4(even_ab, even_cd, 0x88);
    rows[4 + j] = _mm512_shuffle_f32x4(odd_ab, odd_cd, 0x88);
    rows[8 + j] = _mm512_shuffle_f32x4(even_ab, even_cd, 0xDD);
    rows[12 + j] = _mm512_shuffle_f32x4(odd_ab, odd_cd, 0xDD);
  }
}

/* A block of which `count` outputs are there. Those that are not read the last one's weights. */
static void run_block(const struct unpacked_layer* layer, const float* x, size_t first,
                      size_t count, float* out) {
  const size_t inputs = layer->inputs;
  const float* from[BLOCK];
  for (size_t i = 0; i < BLOCK; i++) {
    from[i] = layer->weights + inputs * (first + (i < count ? i : count - 1));
  }
  const __mmask16 there = (__mmask16)((1u << count) - 1);
  __m512 sum =
      layer->bias == NULL ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(there, layer->bias + first);
  __m512 rows[BLOCK];
  size_t k = 0;
  for (; k + BLOCK <= inputs; k += BLOCK) {
    const size_t later = k + AHEAD < inputs ? k + AHEAD : k + AHEAD + (BLOCK - 1) * inputs;
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++) {
      rows[i] = _mm512_loadu_ps(from[i] + k);
      _mm_prefetch((const char*)(from[i] + later), _MM_HINT_T1);
    }
    turn(rows);
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++) {
      sum = _mm512_fmadd_ps(_mm512_set1_ps(x[k + (size_t)i]), rows[i], sum);
    }
  }
  if (k < inputs) {
    const __mmask16 rest = (__mmask16)((1u << (inputs - k)) - 1);
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++) rows[i] = _mm512_maskz_loadu_ps(rest, from[i] + k);
    turn(rows);
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++) {
      if (k + (size_t)i < inputs) {
        sum = _mm512_fmadd_ps(_mm512_set1_ps(x[k + (size_t)i]), rows[i], sum);
      }
    }
  }
  /* Bounds come first: of a sum that is not a number, both keep it. */
  sum = _mm512_max_ps(_mm512_set1_ps(layer->low), sum);
  sum = _mm512_min_ps(_mm512_set1_ps(layer->high), sum);
  _mm512_mask_storeu_ps(out + first, there, sum);
}

void unpacked_run_avx512f(const struct unpacked_layer* layer, size_t row, size_t first,
                          size_t count) {
  const float* x = layer->input + row * layer->input_stride;
  float* out = layer->output + row * layer->output_stride;
  for (size_t done = 0; done < count; done += BLOCK) {
    const size_t left = count - done;
    run_block(layer, x, first + done, left < BLOCK ? left : BLOCK, out);
  }
}

#endif
