/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/dot_taps/taps.h"

#include <immintrin.h>

#define CHANNELS 16
#define MAX_TAPS 25

static inline __m128i load_row(const int8_t* row) { return _mm_loadu_si128((const __m128i*)row); }

/* Four rows of bytes, each channel of which lies side by side. */
static inline __m512i load_quad(const int8_t* const* rows, size_t at, __m512i order) {
  __m512i quad = _mm512_zextsi128_si512(load_row(rows[0] + at));
  quad = _mm512_mask_broadcast_i32x4(quad, 0x00F0, load_row(rows[1] + at));
  quad = _mm512_mask_broadcast_i32x4(quad, 0x0F00, load_row(rows[2] + at));
  quad = _mm512_mask_broadcast_i32x4(quad, 0xF000, load_row(rows[3] + at));
  return _mm512_permutexvar_epi8(order, quad);
}

static inline __m512i quad_order(void) {
  int8_t order[4 * CHANNELS];
  for (int c = 0; c < CHANNELS; c++) {
    for (int tap = 0; tap < 4; tap++) order[4 * c + tap] = (int8_t)(tap * CHANNELS + c);
  }
  return _mm512_loadu_si512(order);
}

/* `taps` is a constant. */
static inline __attribute__((always_inline)) void convolve(
    const int taps, size_t channels, size_t pixels, const int8_t** input, const void* weights,
    int8_t* output, intptr_t input_stride, size_t output_increment, size_t input_offset,
    const int8_t* zero, const union xnn_qs8_qc8w_conv_minmax_params* params) {
  const int zero_point = params->fp32_scalar.output_zero_point;
  const __m512 least = _mm512_set1_ps((float)(params->fp32_scalar.output_min - zero_point));
  const __m512 most = _mm512_set1_ps((float)(params->fp32_scalar.output_max - zero_point));
  const __m512i zero_points = _mm512_set1_epi32(zero_point);
  const __m512i sign = _mm512_set1_epi8((char)0x80);
  const __m512i order = quad_order();
  for (; pixels != 0; pixels--) {
    const int8_t* rows[MAX_TAPS];
    for (int tap = 0; tap < taps; tap++) {
      rows[tap] = input[tap] == zero ? zero : input[tap] + input_offset;
    }
    input = (const int8_t**)((uintptr_t)input + input_stride);
    const uint8_t* w = weights;
    for (size_t at = 0; at < channels; at += CHANNELS) {
      __m512i sums = _mm512_loadu_si512(w);
      w += CHANNELS * sizeof(int32_t);
#pragma GCC unroll 6
      for (int quad = 0; quad < taps / 4; quad++) {
        const __m512i in = _mm512_xor_si512(load_quad(rows + 4 * quad, at, order), sign);
        sums = _mm512_dpbusd_epi32(sums, in, _mm512_loadu_si512(w));
        w += 4 * CHANNELS;
      }
      const __m512i last = _mm512_cvtepu8_epi32(load_row(rows[taps - 1] + at));
      const __m512i last_weights = _mm512_cvtepu8_epi32(load_row((const int8_t*)w));
      sums = _mm512_dpbusd_epi32(sums, _mm512_xor_si512(last, sign), last_weights);
      w += CHANNELS;
      __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(w));
      w += CHANNELS * sizeof(float);
      scaled = _mm512_max_ps(_mm512_min_ps(scaled, most), least);
      const __m512i levels = _mm512_add_epi32(_mm512_cvtps_epi32(scaled), zero_points);
      const __m128i bytes = _mm512_cvtepi32_epi8(levels);
      const size_t left = channels - at;
      if (left >= CHANNELS) {
        _mm_storeu_si128((__m128i*)(output + at), bytes);
      } else {
        _mm_mask_storeu_epi8(output + at, (__mmask16)((1u << left) - 1), bytes);
      }
    }
    output += channels + output_increment;
  }
}

void petrel_qs8_qc8w_dwconv_9p16c__avx512vnni(size_t channels, size_t output_width,
                                              const int8_t** input, const void* weights,
                                              int8_t* output, intptr_t input_stride,
                                              size_t output_increment, size_t input_offset,
                                              const int8_t* zero,
                                              const union xnn_qs8_qc8w_conv_minmax_params* params) {
  convolve(9, channels, output_width, input, weights, output, input_stride, output_increment,
           input_offset, zero, params);
}

void petrel_qs8_qc8w_dwconv_25p16c__avx512vnni(
    size_t channels, size_t output_width, const int8_t** input, const void* weights, int8_t* output,
    intptr_t input_stride, size_t output_increment, size_t input_offset, const int8_t* zero,
    const union xnn_qs8_qc8w_conv_minmax_params* params) {
  convolve(25, channels, output_width, input, weights, output, input_stride, output_increment,
           input_offset, zero, params);
}
