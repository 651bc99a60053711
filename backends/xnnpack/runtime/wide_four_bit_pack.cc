// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/wide_four_bit_pack.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <petrel/packing.h>
#include <pthreadpool.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#define PETREL_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define PETREL_VNNI_INLINE \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), always_inline)) inline

namespace petrel::backends::xnnpack {
namespace {

constexpr size_t kColumns = 16;
constexpr size_t kLevels = 8;             // of a column in a line
constexpr size_t kBytesPerTask = 131072;  // below this a thread costs more than it brings

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

// What all panels of some weights have in common.
struct Packing {
  size_t columns, depth, group;
  const uint8_t* weights;
  const uint16_t* scales;
  uint8_t* packed;
  size_t behind_group, panel_bytes;
};

PETREL_VNNI void pack_panel(const Packing& packing, size_t column) {
  const size_t stride = packing.depth / 2, groups = packing.depth / packing.group;
  const size_t count = std::min(kColumns, packing.columns - column);
  const uint8_t* weights = packing.weights + column * stride;
  const uint16_t* scales = packing.scales + column * groups;
  uint8_t* const first = packing.packed + column / kColumns * packing.panel_bytes;
  uint8_t* packed = first + kColumns * sizeof(float);
  // Levels less 8 have their upper bit turned; columns that are not there have zeros.
  const __m512i eights = _mm512_set1_epi8(static_cast<char>(0x88));
  const __mmask16 there = static_cast<__mmask16>((1u << count) - 1);
  __m512 sums = _mm512_setzero_ps();
  for (size_t g = 0; g < groups; ++g) {
    __m512i levels = _mm512_setzero_si512();
    for (size_t k = 0; k < packing.group; k += kLevels) {
      const __m512i line = _mm512_maskz_xor_epi32(there, line_of(weights, stride, count), eights);
      const __m512i mixed = interleave(line);
      _mm512_storeu_si512(packed, mixed);
      levels = add_levels(levels, mixed);
      weights += kLevels / 2;
      packed += sizeof(mixed);
    }
    alignas(64) uint32_t bits[kColumns] = {};
    for (size_t n = 0; n < count; ++n) bits[n] = uint32_t{scales[n * groups + g]} << 16;
    const __m512 scale = _mm512_mul_ps(_mm512_load_ps(bits), _mm512_set1_ps(0.0625f));
    sums = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(levels), scale, sums);
    packed += packing.behind_group;
  }
  _mm512_storeu_ps(first, sums);
}

void pack_panels(void* packing, size_t column, size_t count) {
  for (const size_t end = column + count; column < end; column += kColumns) {
    pack_panel(*static_cast<const Packing*>(packing), column);
  }
}

}  // namespace

void pack_wide_four_bits(size_t g, size_t nc, size_t kc, size_t, size_t, size_t, size_t bl,
                         const void* weights, const void*, const void* scales, void* packed,
                         size_t extra_bytes_bl, size_t extra_bytes_n, const void*) {
  Packing packing = {nc,
                     kc,
                     bl,
                     static_cast<const uint8_t*>(weights),
                     static_cast<const uint16_t*>(scales),
                     static_cast<uint8_t*>(packed),
                     extra_bytes_bl,
                     kColumns * sizeof(float) + kc / kLevels * sizeof(__m512i) +
                         kc / bl * extra_bytes_bl + extra_bytes_n};
  const size_t panels = (nc + kColumns - 1) / kColumns;
  const size_t at_once = (kBytesPerTask + packing.panel_bytes - 1) / packing.panel_bytes;
  for (; g != 0; --g) {
    const bool is_large = panels * packing.panel_bytes > kBytesPerTask;
    pthreadpool_parallelize_1d_tile_1d(is_large ? xnn_packing_threads() : nullptr, &pack_panels,
                                       &packing, nc, at_once * kColumns, 0);
    packing.weights += nc * kc / 2;
    packing.packed += panels * packing.panel_bytes;
  }
}

}  // namespace petrel::backends::xnnpack

#endif
