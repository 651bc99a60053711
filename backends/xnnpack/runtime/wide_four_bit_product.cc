// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/runtime/wide_four_bit_product.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <xnnpack.h>

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/wide_four_bit_pack.h"
#include "third_party/xnnpack/tiles.h"
#include "xnnpack/config.h"
#include "xnnpack/microparams.h"

// Functions of vectors and of tiles, in a program for any x86.
#define PETREL_VNNI_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma"
#define PETREL_VNNI __attribute__((target(PETREL_VNNI_TARGET)))
#define PETREL_VNNI_INLINE __attribute__((target(PETREL_VNNI_TARGET), always_inline)) inline
#define PETREL_TILES __attribute__((target(PETREL_VNNI_TARGET ",amx-tile,amx-int8")))
#define PETREL_TILES_INLINE \
  __attribute__((target(PETREL_VNNI_TARGET ",amx-tile,amx-int8"), always_inline)) inline

namespace petrel::backends::xnnpack {
namespace {

// How XNNPACK packs the weights of sixteen columns where four rows are together:
//
//   float[16]           -(sum of weight x scale) of the column
//   for each group:
//     for each 8 rows: 4 bytes of each column: row k in the low four bits, k + 4 in the high
//     bfloat16[16]      scale / 16 of the column
//   float[16]           bias
constexpr size_t kColumns = 16;
constexpr size_t kStep = 32;  // rows of weights that are multiplied together; groups have some
constexpr size_t kLine = 64;
constexpr size_t kStepLines = kStep / 8;
constexpr size_t kStepBytes = kStepLines * kLine;
constexpr size_t kMostRows = 14;      // of A in one call, without tiles
constexpr size_t kMostTileRows = 32;  // with them
constexpr size_t kKeptSums = 8192;    // of steps of rows of A, for all panels
constexpr size_t kAhead = 2048;       // bytes that are fetched before they are needed

// What all panels of a call have in common, as XNNPACK gives it.
struct Call {
  size_t rows, columns, depth, group;
  const int8_t* a;
  size_t a_stride;
  float* c;
  size_t c_row, c_panel;  // strides in bytes
  const xnn_qd8_quantization_params* quantization;
  float smallest, largest;

  const int8_t* row(size_t r) const { return a + r * a_stride; }
  size_t panel_bytes() const {
    return depth / kStep * kStepBytes + depth / group * kColumns * sizeof(uint16_t) +
           2 * kColumns * sizeof(float);
  }
};

// Four rows of sixteen columns each in two vectors, sixteen times the levels.
PETREL_VNNI_INLINE void unpack(const uint8_t* line, __m512i* low, __m512i* high) {
  const __m512i upper = _mm512_set1_epi8(static_cast<char>(0xf0));
  const __m512i both = _mm512_loadu_si512(line);
  *low = _mm512_and_si512(_mm512_slli_epi16(both, 4), upper);
  *high = _mm512_and_si512(both, upper);
}

PETREL_VNNI_INLINE __m512 widened(const uint8_t* scales) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// Results of a row from its sums.
PETREL_VNNI_INLINE void finish(const Call& call, size_t row, __m512 sum, __m512 weight_sums,
                               __m512 bias, float* c, __mmask16 columns) {
  const xnn_qd8_quantization_params& q = call.quantization[row];
  sum = _mm512_fmadd_ps(weight_sums, _mm512_set1_ps(static_cast<float>(q.zero_point)), sum);
  sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(q.inv_scale), bias);
  sum = _mm512_max_ps(sum, _mm512_set1_ps(call.smallest));
  sum = _mm512_min_ps(sum, _mm512_set1_ps(call.largest));
  char* out = reinterpret_cast<char*>(c) + row * call.c_row;
  _mm512_mask_storeu_ps(reinterpret_cast<float*>(out), columns, sum);
}

PETREL_VNNI_INLINE __mmask16 mask_of(size_t columns) {
  return static_cast<__mmask16>(columns >= kColumns ? 0xffff : (1u << columns) - 1);
}

// -128 times the sum of a step of a row: what levels of 8 more than they are add to a product.
PETREL_VNNI_INLINE int32_t excess(const int8_t* a) {
  const __m256i step = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
  const __m256i eight = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), step);
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  const __m128i one = _mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1));
  return -128 * _mm_cvtsi128_si32(one);
}

PETREL_VNNI_INLINE __m512i four_times(const int8_t* a) {
  int four;
  std::memcpy(&four, a, sizeof(four));
  return _mm512_set1_epi32(four);
}

// One factor has no sign: levels are 8 more than they are.
template <size_t kRows>
PETREL_VNNI_INLINE void sum_panel(const Call& call, const uint8_t* packed, const int32_t* excesses,
                                  __m512 (&sums)[kRows]) {
  const __m512i more = _mm512_set1_epi8(static_cast<char>(0x80));
  const size_t steps = call.depth / kStep;
  const int8_t* a = call.a;
#pragma GCC unroll 14
  for (size_t r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_ps();
  for (size_t k = 0, step = 0; k < call.depth; k += call.group) {
    const uint8_t* scales = packed + call.group / kStep * kStepBytes;
    const __m512 scale = widened(scales);
    for (; packed != scales; packed += kStepBytes, a += kStep, ++step) {
      __m512i weights[2 * kStepLines];
#pragma GCC unroll 4
      for (size_t i = 0; i < kStepLines; ++i) {
        if (kRows == 1) {
          _mm_prefetch(reinterpret_cast<const char*>(packed) + kAhead + i * kLine, _MM_HINT_T0);
        }
        unpack(packed + i * kLine, &weights[2 * i], &weights[2 * i + 1]);
        weights[2 * i] = _mm512_xor_si512(weights[2 * i], more);
        weights[2 * i + 1] = _mm512_xor_si512(weights[2 * i + 1], more);
      }
      const int8_t* row = a;
#pragma GCC unroll 14
      for (size_t r = 0; r < kRows; ++r, row += call.a_stride) {
        __m512i products =
            _mm512_set1_epi32(excesses != nullptr ? excesses[r * steps + step] : excess(row));
#pragma GCC unroll 8
        for (size_t i = 0; i < 2 * kStepLines; ++i) {
          products = _mm512_dpbusd_epi32(products, weights[i], four_times(row + 4 * i));
        }
        sums[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), scale, sums[r]);
      }
    }
    packed += kColumns * sizeof(uint16_t);
  }
}

template <size_t kRows>
PETREL_VNNI void multiply(const Call& call, const uint8_t* packed) {
  int32_t kept[kKeptSums];
  const size_t steps = call.depth / kStep;
  const bool is_kept = kRows * steps <= kKeptSums;
  for (size_t r = 0; is_kept && r < kRows; ++r) {
    for (size_t s = 0; s < steps; ++s) kept[r * steps + s] = excess(call.row(r) + s * kStep);
  }
  const size_t bytes = call.panel_bytes();
  float* c = call.c;
  for (size_t column = 0; column < call.columns; column += kColumns, packed += bytes) {
    __m512 sums[kRows];
    sum_panel<kRows>(call, packed + kColumns * sizeof(float), is_kept ? kept : nullptr, sums);
    const __m512 weight_sums = _mm512_loadu_ps(packed);
    const __m512 bias = _mm512_loadu_ps(packed + bytes - kColumns * sizeof(float));
    for (size_t r = 0; r < kRows; ++r) {
      finish(call, r, sums[r], weight_sums, bias, c, mask_of(call.columns - column));
    }
    c = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + call.c_panel);
  }
}

// A step of a panel, as a tile reads it.
struct alignas(64) Step {
  uint8_t lines[2 * kStepLines][kLine];
  float scales[kColumns];
};
constexpr size_t kChunk = 32;  // steps that are unpacked before rows go through them: 18 KB

// Where the weights of a panel go on: the next line, and the scales of its group.
struct Place {
  const uint8_t* line;
  const uint8_t* scales;
};

PETREL_VNNI_INLINE Place first_place(const Call& call, const uint8_t* packed) {
  const uint8_t* line = packed + kColumns * sizeof(float);
  return {line, line + call.group / kStep * kStepBytes};
}

// Unpacks the next steps of a panel.
PETREL_VNNI_INLINE void unpack_steps(const Call& call, size_t count, Place* place, Step* steps) {
  for (size_t s = 0; s < count; ++s, ++steps) {
    if (place->line == place->scales) {
      place->line += kColumns * sizeof(uint16_t);
      place->scales = place->line + call.group / kStep * kStepBytes;
    }
    for (size_t i = 0; i < kStepLines; ++i, place->line += kLine) {
      __m512i low, high;
      unpack(place->line, &low, &high);
      _mm512_store_si512(steps->lines[2 * i], low);
      _mm512_store_si512(steps->lines[2 * i + 1], high);
    }
    _mm512_store_ps(steps->scales, widened(place->scales));
  }
}

// As the processor reads it. Tiles 0 and 1 are sums of the first 16 rows, 2 and 3 of those behind
// them, 4 and 5 such rows of A, 6 and 7 a step of weights.
PETREL_TILES void configure(size_t rows) {
  struct {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t line_bytes[16] = {};
    uint8_t lines[16] = {};
  } config;
  const size_t first = std::min(rows, kColumns), second = rows > kColumns ? rows - kColumns : 1;
  for (size_t i = 0; i < 8; ++i) {
    const bool is_a = i == 4 || i == 5, is_second = i == 2 || i == 3 || i == 5;
    config.line_bytes[i] = is_a ? kStep : kLine;
    config.lines[i] = static_cast<uint8_t>(i >= 6 ? kStep / 4 : is_second ? second : first);
  }
  petrel_tile_configure(&config);
}

using TileSums = int32_t[16][kColumns];

template <bool kIsSecond, bool kIsOdd>
PETREL_TILES_INLINE void multiply_step(const int8_t* a, size_t a_stride, const Step& step,
                                       TileSums sums) {
#define PETREL_MULTIPLY_STEP(c, a_tile, b_tile) \
  _tile_zero(c);                                \
  _tile_loadd(a_tile, a, a_stride);             \
  _tile_loadd(b_tile, step.lines, kLine);       \
  _tile_dpbssd(c, a_tile, b_tile);              \
  _tile_stored(c, sums, kColumns * sizeof(int32_t))
  if constexpr (kIsSecond && kIsOdd) {
    PETREL_MULTIPLY_STEP(3, 5, 7);
  } else if constexpr (kIsSecond) {
    PETREL_MULTIPLY_STEP(2, 5, 6);
  } else if constexpr (kIsOdd) {
    PETREL_MULTIPLY_STEP(1, 4, 7);
  } else {
    PETREL_MULTIPLY_STEP(0, 4, 6);
  }
#undef PETREL_MULTIPLY_STEP
}

template <size_t kRows>
PETREL_TILES_INLINE void add_step(const TileSums products, const Step& step,
                                  __m512 (&sums)[kRows]) {
  const __m512 scale = _mm512_load_ps(step.scales);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const __m512i line = _mm512_load_si512(products[r]);
    sums[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(line), scale, sums[r]);
  }
}

// Lines that are brought with each two steps: the next panel goes by with this one, once or twice.
constexpr size_t kLinesAhead = 9, kLinesAheadTwice = 5;

// Up to kRows rows through unpacked steps. A step is added up while the next ones are multiplied.
template <size_t kRows, bool kIsSecond>
PETREL_TILES void sum_steps(const Call& call, size_t first_step, const Step* steps, size_t count,
                            const char** ahead, float (*kept)[kColumns]) {
  const size_t lines_ahead = call.rows > 16 ? kLinesAheadTwice : kLinesAhead;
  alignas(64) TileSums products[2];
  __m512 sums[kRows];
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) sums[r] = _mm512_load_ps(kept[r]);
  const int8_t* a = call.row(kIsSecond ? 16 : 0) + first_step * kStep;
  multiply_step<kIsSecond, false>(a, call.a_stride, steps[0], products[0]);
  size_t s = 1;
  for (; s + 1 < count; s += 2) {
    for (size_t i = 0; i < lines_ahead; ++i, *ahead += kLine) _mm_prefetch(*ahead, _MM_HINT_T1);
    multiply_step<kIsSecond, true>(a + s * kStep, call.a_stride, steps[s], products[1]);
    add_step<kRows>(products[0], steps[s - 1], sums);
    multiply_step<kIsSecond, false>(a + (s + 1) * kStep, call.a_stride, steps[s + 1], products[0]);
    add_step<kRows>(products[1], steps[s], sums);
  }
  if (s < count) {
    multiply_step<kIsSecond, true>(a + s * kStep, call.a_stride, steps[s], products[1]);
    add_step<kRows>(products[0], steps[s - 1], sums);
    add_step<kRows>(products[1], steps[s], sums);
  } else {
    add_step<kRows>(products[0], steps[s - 1], sums);
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) _mm512_store_ps(kept[r], sums[r]);
}

template <bool kIsSecond>
PETREL_TILES_INLINE void sum_rows(const Call& call, size_t rows, size_t first_step,
                                  const Step* steps, size_t count, const char** ahead,
                                  float (*kept)[kColumns]) {
  if (rows <= 4) {
    sum_steps<4, kIsSecond>(call, first_step, steps, count, ahead, kept);
  } else if (rows <= 8) {
    sum_steps<8, kIsSecond>(call, first_step, steps, count, ahead, kept);
  } else {
    sum_steps<16, kIsSecond>(call, first_step, steps, count, ahead, kept);
  }
}

PETREL_TILES void multiply_tiles(const Call& call, const uint8_t* packed) {
  alignas(64) Step steps[kChunk];
  alignas(64) float sums[kMostTileRows][kColumns];
  const size_t all_steps = call.depth / kStep, bytes = call.panel_bytes();
  float* c = call.c;
  configure(call.rows);
  for (size_t column = 0; column < call.columns; column += kColumns, packed += bytes) {
    const char* ahead = reinterpret_cast<const char*>(packed) + bytes;
    Place place = first_place(call, packed);
    std::memset(sums, 0, call.rows * sizeof(sums[0]));
    for (size_t first = 0; first < all_steps; first += kChunk) {
      const size_t count = std::min(kChunk, all_steps - first);
      unpack_steps(call, count, &place, steps);
      sum_rows<false>(call, std::min(call.rows, size_t{16}), first, steps, count, &ahead, sums);
      if (call.rows > 16) {
        sum_rows<true>(call, call.rows - 16, first, steps, count, &ahead, sums + 16);
      }
    }
    const __m512 weight_sums = _mm512_loadu_ps(packed);
    const __m512 bias = _mm512_loadu_ps(packed + bytes - kColumns * sizeof(float));
    for (size_t r = 0; r < call.rows; ++r) {
      finish(call, r, _mm512_load_ps(sums[r]), weight_sums, bias, c,
             mask_of(call.columns - column));
    }
    c = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + call.c_panel);
  }
  _tile_release();
}

using Multiply = void (*)(const Call&, const uint8_t*);
constexpr Multiply kByRows[kMostRows] = {
    multiply<1>, multiply<2>, multiply<3>,  multiply<4>,  multiply<5>,  multiply<6>,  multiply<7>,
    multiply<8>, multiply<9>, multiply<10>, multiply<11>, multiply<12>, multiply<13>, multiply<14>};

// XNNPACK's kind of kernel (xnn_dqgemm_ukernel_fn); XNNPACK makes groups divide `kc`, and both
// multiples of 32.
template <bool kHasTiles>
void product(size_t mr, size_t nc, size_t kc, const void* a, size_t a_stride, const void* w,
             void* out, size_t cm_stride, size_t cn_stride, const void* params,
             const xnn_qd8_quantization_params* quantization) {
  const auto& limits = static_cast<const xnn_f32_qb4w_minmax_params*>(params)->scalar;
  const Call call = {mr,
                     nc,
                     kc,
                     limits.blocksize,
                     static_cast<const int8_t*>(a),
                     a_stride,
                     static_cast<float*>(out),
                     cm_stride,
                     cn_stride,
                     quantization,
                     limits.min,
                     limits.max};
  const auto* packed = static_cast<const uint8_t*>(w);
  kHasTiles&& mr > 1 ? multiply_tiles(call, packed) : kByRows[mr - 1](call, packed);
}

}  // namespace

bool use_wide_four_bit_products(xnn_gemm_config* config, bool has_tiles) {
  const bool is_for_vnni = (config->mr == 14 || config->mr == 8) && config->nr == kColumns &&
                           config->log2_kr == 3 && config->log2_sr == 0 && config->planes == 2;
  if (!is_for_vnni) return false;
  auto& kernels = config->minmax.dqgemm;
  std::memset(kernels, 0, sizeof(kernels));
  const size_t rows = has_tiles ? kMostTileRows : kMostRows;
  const auto kernel = has_tiles ? &product<true> : &product<false>;
  kernels[0].function[0] = kernel;
  kernels[rows - 1].function[0] = kernel;
  config->mr = static_cast<uint8_t>(rows);
  config->log2_kr = 2;
  config->pack_gemm_goi_bl = &pack_wide_four_bits;
  return true;
}

}  // namespace petrel::backends::xnnpack

#else

namespace petrel::backends::xnnpack {

bool use_wide_four_bit_products(xnn_gemm_config*, bool) { return false; }

}  // namespace petrel::backends::xnnpack

#endif
