// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/wide_four_bit_pack.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#define PETREL_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define PETREL_VNNI_INLINE \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), always_inline)) inline

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kColumns = 16;
constexpr size_t kLevels = 8;  // of a column in a line

// Of each 32 bits levels 0 to 7 become 0, 4, 1, 5, 2, 6, 3, 7.
PETREL_VNNI_INLINE __m512i interleave(__m512i levels) {
  const __m512i pairs = _mm512_set1_epi32(0x0000ff00), singles = _mm512_set1_epi32(0x00f000f0);
  __m512i swapped = _mm512_and_si512(_mm512_xor_si512(levels, _mm512_srli_epi32(levels, 8)), pairs);
  levels = _mm512_xor_si512(levels, _mm512_xor_si512(swapped, _mm512_slli_epi32(swapped, 8)));
  swapped = _mm512_and_si512(_mm512_xor_si512(levels, _mm512_srli_epi32(levels, 4)), singles);
  return _mm512_xor_si512(levels, _mm512_xor_si512(swapped, _mm512_slli_epi32(swapped, 4)));
}

// Sixteen times the sum of the levels of each column, less 8 each.
PETREL_VNNI_INLINE __m512i add_levels(__m512i sums, __m512i line) {
  const __m512i upper = _mm512_set1_epi8(static_cast<char>(0xf0)), one = _mm512_set1_epi8(1);
  sums = _mm512_dpbusd_epi32(sums, one, _mm512_and_si512(line, upper));
  return _mm512_dpbusd_epi32(sums, one, _mm512_and_si512(_mm512_slli_epi16(line, 4), upper));
}

// Eight levels of each of `count` columns, whose rows are `stride` bytes apart.
PETREL_VNNI_INLINE __m512i line_of(const uint8_t* weights, size_t stride, size_t count) {
  alignas(64) uint32_t columns[kColumns] = {};
  for (size_t n = 0; n < count; ++n) {
    std::memcpy(&columns[n], weights + n * stride, sizeof(columns[n]));
  }
  return _mm512_load_si512(columns);
}

// One panel; returns what follows it.
PETREL_VNNI uint8_t* pack_panel(size_t count, size_t depth, size_t group, const uint8_t* weights,
                                const uint16_t* scales, uint8_t* packed, size_t behind_group) {
  const size_t stride = depth / 2, groups = depth / group;
  const __m512i eights = _mm512_set1_epi8(static_cast<char>(0x88));
  __m512 sums = _mm512_setzero_ps();
  uint8_t* const first = packed;
  packed += kColumns * sizeof(float);
  for (size_t g = 0; g < groups; ++g) {
    __m512i levels = _mm512_setzero_si512();
    for (size_t k = 0; k < group; k += kLevels, weights += kLevels / 2, packed += sizeof(__m512i)) {
      // Levels less 8 have their upper bit turned; columns that are not there have zeros.
      const __mmask16 there = static_cast<__mmask16>((1u << count) - 1);
      const __m512i line = _mm512_maskz_xor_epi32(there, line_of(weights, stride, count), eights);
      const __m512i mixed = interleave(line);
      _mm512_storeu_si512(packed, mixed);
      levels = add_levels(levels, mixed);
    }
    alignas(64) uint32_t bits[kColumns] = {};
    for (size_t n = 0; n < count; ++n) bits[n] = uint32_t{scales[n * groups + g]} << 16;
    const __m512 scale = _mm512_mul_ps(_mm512_load_ps(bits), _mm512_set1_ps(0.0625f));
    sums = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(levels), scale, sums);
    packed += behind_group;
  }
  _mm512_storeu_ps(first, sums);
  return packed;
}

}  // namespace

void pack_wide_four_bits(size_t g, size_t nc, size_t kc, size_t, size_t, size_t, size_t bl,
                         const void* weights, const void*, const void* scales, void* packed,
                         size_t extra_bytes_bl, size_t extra_bytes_n, const void*) {
  const auto* source = static_cast<const uint8_t*>(weights);
  const auto* scale = static_cast<const uint16_t*>(scales);
  auto* out = static_cast<uint8_t*>(packed);
  for (; g != 0; --g, source += nc * kc / 2) {
    for (size_t n = 0; n < nc; n += kColumns) {
      out = pack_panel(std::min(kColumns, nc - n), kc, bl, source + n * kc / 2,
                       scale + n * (kc / bl), out, extra_bytes_bl);
      out += extra_bytes_n;
    }
  }
}

}  // namespace petrel::backends::xnnpack

#endif
