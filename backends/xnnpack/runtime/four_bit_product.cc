// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/four_bit_product.h"

#include "backends/xnnpack/runtime/wide_four_bit_product.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <xnnpack.h>

#include <cstring>

#include "xnnpack/config.h"
#include "xnnpack/hardware-config.h"
#include "xnnpack/microparams.h"

// A function of vectors: compiled for AVX2 in a program for any x86.
#define PETREL_AVX2 __attribute__((target("avx2,fma")))
#define PETREL_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace petrel::backends::xnnpack {
namespace {

// How XNNPACK packs the weights of eight columns:
//
//   float[8]            -(sum of weight x scale) of the column
//   for each group:
//     for each 16 rows: 8 bytes of each column: row k in the low four bits, k + 8 in the high
//     bfloat16[8]       scale / 16 of the column
//   float[8]            bias
constexpr size_t kColumns = 8;
constexpr size_t kHalf = 4;
constexpr size_t kMostRows = 8;
// Rows of weights whose products sums of 16 bits hold: 4 x 2 x 255 x 8 at most.
constexpr size_t kStep = 32;
constexpr size_t kStepBytes = kStep / 2 * kColumns;
constexpr size_t kAhead = 2048;  // bytes that are fetched before they are needed

// What all tiles of a call have in common, as XNNPACK gives it.
struct Call {
  size_t depth, group;
  const int8_t* a;
  size_t a_stride;
  const xnn_qd8_quantization_params* quantization;
  __m256 smallest, largest;
};

// Sixteen rows of four columns: a byte for each weight.
PETREL_AVX2_INLINE void unpack(const uint8_t* packed, __m256i* low, __m256i* high) {
  const __m256i values = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0,
                                          1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
  const __m256i four_bits = _mm256_set1_epi8(0x0f);
  const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed));
  *low = _mm256_shuffle_epi8(values, _mm256_and_si256(both, four_bits));
  *high = _mm256_shuffle_epi8(values, _mm256_and_si256(_mm256_srli_epi16(both, 4), four_bits));
}

// Eight levels, four times, plus 128: the instruction wants one factor without a sign.
PETREL_AVX2_INLINE __m256i levels(const int8_t* a) {
  long long eight;
  std::memcpy(&eight, a, sizeof(eight));
  return _mm256_xor_si256(_mm256_set1_epi64x(eight), _mm256_set1_epi8(-128));
}

// The products of one step: two sums for each of four columns.
PETREL_AVX2_INLINE __m256i step_sums(const int8_t* a, const __m256i (&weights)[4]) {
  const __m256i first = _mm256_add_epi16(_mm256_maddubs_epi16(levels(a), weights[0]),
                                         _mm256_maddubs_epi16(levels(a + 8), weights[1]));
  const __m256i second = _mm256_add_epi16(_mm256_maddubs_epi16(levels(a + 16), weights[2]),
                                          _mm256_maddubs_epi16(levels(a + 24), weights[3]));
  return _mm256_madd_epi16(_mm256_add_epi16(first, second), _mm256_set1_epi16(1));
}

// The scales of four columns, each twice.
PETREL_AVX2_INLINE __m256 twice(const uint8_t* packed) {
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(packed));
  const __m256i pairs = _mm256_cvtepu16_epi64(four);
  return _mm256_castsi256_ps(
      _mm256_or_si256(_mm256_slli_epi64(pairs, 48), _mm256_slli_epi64(pairs, 16)));
}

// Of the columns that are packed together four or all, from the `first`-th half on: two sums
// for each. One step after the other, so that only these sums stay in registers, and the
// weights of one step. With one row weights are read once and come from memory.
template <size_t kRows, size_t kHalves>
PETREL_AVX2_INLINE void sum_columns(const Call& call, const uint8_t* packed, size_t first,
                                    __m256 (*sums)[kRows]) {
  const int8_t* a = call.a;
#pragma GCC unroll 2
  for (size_t h = 0; h < kHalves; ++h) {
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r) sums[h][r] = _mm256_setzero_ps();
  }
  for (size_t k = 0; k < call.depth; k += call.group) {
    const uint8_t* scales = packed + call.group / kStep * kStepBytes;
    for (; packed != scales; packed += kStepBytes, a += kStep) {
      if (kRows == 1) {
        _mm_prefetch(reinterpret_cast<const char*>(packed) + kAhead, _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(packed) + kAhead + 64, _MM_HINT_T0);
      }
#pragma GCC unroll 2
      for (size_t h = 0; h < kHalves; ++h) {
        const size_t half = first + h;
        const __m256 scale = twice(scales + half * kHalf * sizeof(uint16_t));
        __m256i weights[4];
        unpack(packed + half * kStep, &weights[0], &weights[1]);
        unpack(packed + kStepBytes / 2 + half * kStep, &weights[2], &weights[3]);
        const int8_t* row = a;
#pragma GCC unroll 8
        for (size_t r = 0; r < kRows; ++r, row += call.a_stride) {
          sums[h][r] =
              _mm256_fmadd_ps(_mm256_cvtepi32_ps(step_sums(row, weights)), scale, sums[h][r]);
        }
      }
    }
    packed += kColumns * sizeof(uint16_t);
  }
}

PETREL_AVX2_INLINE void store(__m256 values, size_t count, float* out) {
  if (count >= kColumns) {
    _mm256_storeu_ps(out, values);
    return;
  }
  alignas(32) float kept[kColumns];
  _mm256_store_ps(kept, values);
  std::memcpy(out, kept, count * sizeof(float));
}

template <size_t kRows>
PETREL_AVX2 void multiply(const Call& call, size_t columns, const void* w, float* c,
                          size_t cm_stride, size_t cn_stride) {
  const auto* packed = static_cast<const uint8_t*>(w);
  for (;;) {
    const __m256 weight_sums = _mm256_loadu_ps(reinterpret_cast<const float*>(packed));
    packed += kColumns * sizeof(float);
    __m256 sums[2][kRows];
    if (kRows == 1) {
      sum_columns<kRows, 2>(call, packed, 0, sums);
    } else {
      sum_columns<kRows, 1>(call, packed, 0, sums);
      sum_columns<kRows, 1>(call, packed, 1, sums + 1);
    }
    packed +=
        call.depth / kStep * kStepBytes + call.depth / call.group * kColumns * sizeof(uint16_t);
    const __m256 bias = _mm256_loadu_ps(reinterpret_cast<const float*>(packed));
    packed += kColumns * sizeof(float);
    for (size_t r = 0; r < kRows; ++r) {
      // Scales are packed as a sixteenth; zero points are 128 more, as levels are.
      const float zero_point = static_cast<float>(call.quantization[r].zero_point + 128);
      const __m256d mixed = _mm256_castps_pd(_mm256_hadd_ps(sums[0][r], sums[1][r]));
      __m256 sum = _mm256_castpd_ps(_mm256_permute4x64_pd(mixed, 0xd8));
      sum = _mm256_fmadd_ps(weight_sums, _mm256_set1_ps(zero_point),
                            _mm256_mul_ps(sum, _mm256_set1_ps(16.0f)));
      sum = _mm256_fmadd_ps(sum, _mm256_set1_ps(call.quantization[r].inv_scale), bias);
      sum = _mm256_min_ps(_mm256_max_ps(sum, call.smallest), call.largest);
      store(sum, columns, reinterpret_cast<float*>(reinterpret_cast<char*>(c) + r * cm_stride));
    }
    if (columns <= kColumns) return;
    columns -= kColumns;
    c = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + cn_stride);
  }
}

using Multiply = void (*)(const Call&, size_t, const void*, float*, size_t, size_t);
constexpr Multiply kByRows[kMostRows] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>,
                                         multiply<5>, multiply<6>, multiply<7>, multiply<8>};

// XNNPACK's kind of kernel (xnn_dqgemm_ukernel_fn); XNNPACK makes groups divide `kc`, and `kc`
// a multiple of 32.
PETREL_AVX2 void product(size_t mr, size_t nc, size_t kc, const void* a, size_t a_stride,
                         const void* w, void* out, size_t cm_stride, size_t cn_stride,
                         const void* params, const xnn_qd8_quantization_params* quantization) {
  const auto& limits = static_cast<const xnn_f32_qb4w_minmax_params*>(params)->scalar;
  const Call call = {
      kc,           limits.blocksize,           static_cast<const int8_t*>(a), a_stride,
      quantization, _mm256_set1_ps(limits.min), _mm256_set1_ps(limits.max)};
  kByRows[mr - 1](call, nc, w, static_cast<float*>(out), cm_stride, cn_stride);
}

}  // namespace

bool use_four_bit_products() {
  // It is XNNPACK's own, which nobody reads before operators are made.
  auto* config = const_cast<xnn_gemm_config*>(xnn_init_qd8_f32_qb4w_gemm_config());
  if (config == nullptr) return false;
  if (use_wide_four_bit_products(config, xnn_init_hardware_config()->use_x86_avx512amx)) {
    return true;
  }
  const bool is_for_avx2 = config->mr == 3 && config->nr == kColumns && config->log2_kr == 3 &&
                           config->log2_sr == 0 && config->planes == 2;
  if (!is_for_avx2) return false;
  auto& kernels = config->minmax.dqgemm;
  std::memset(kernels, 0, sizeof(kernels));
  kernels[0].function[0] = &product;
  kernels[kMostRows - 1].function[0] = &product;
  config->mr = kMostRows;
  return true;
}

}  // namespace petrel::backends::xnnpack

#else

namespace petrel::backends::xnnpack {

bool use_four_bit_products() { return false; }

}  // namespace petrel::backends::xnnpack

#endif
