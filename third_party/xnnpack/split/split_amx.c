/* SPDX-License-Identifier: Apache-2.0
 *
 * One call computes panel after panel of C. Tiles 0 to 3 collect 16 rows by 64 columns, 4 and 5
 * have both parts of 32 columns of A, 6 and 7 take turns with those of B:
 *
 *                          6, 7: parts of B
 *   4, 5: parts of A   x   | 0 | 1 | 2 | 3 |
 */
#include <string.h>

#include "third_party/xnnpack/split/split.h"
#include "third_party/xnnpack/tiles.h"

enum {
  kTileColumns = 16,
  kTileBytes = 1024,
  kTiles = SPLIT_COLUMNS / kTileColumns,
  kPartBytes = kTiles * kTileBytes, /* of B, b1 or b2 of 32 rows */
  kLineBytes = 64,
  kMaxKept = 32, /* pieces of 32 columns of A that stay split for all panels: 64 KB */
};

/* As the processor reads it. */
struct tile_config {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t line_bytes[16];
  uint8_t lines[16];
};

static void configure(size_t rows) {
  struct tile_config config;
  memset(&config, 0, sizeof(config));
  config.palette = 1;
  for (int i = 0; i < 8; ++i) {
    config.line_bytes[i] = kLineBytes;
    config.lines[i] = (uint8_t)(i < 6 ? rows : 16);
  }
  petrel_tile_configure(&config);
}

static inline __mmask16 mask_of(size_t count) {
  return (__mmask16)(count >= 16 ? 0xffff : (1u << count) - 1);
}

/* The first 32 floats of each row, or `depth` if those are fewer. Rounded as integers are, for
 * instructions that round put elements side by side that lie 16 apart in a tile. Some of what is
 * not a number is rounded to one: returns whether all are numbers. */
static inline int split_rows(const float* const* rows, size_t count, size_t depth, uint8_t* first,
                             uint8_t* second) {
  const __mmask16 low = mask_of(depth), high = mask_of(depth > 16 ? depth - 16 : 0);
  const __m512i half = _mm512_set1_epi32(0x8000);
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
  __mmask16 nans = 0;
  for (size_t i = 0; i < count; ++i, first += kLineBytes, second += kLineBytes) {
    const __m512 x0 = _mm512_maskz_loadu_ps(low, rows[i]);
    const __m512 x1 = _mm512_maskz_loadu_ps(high, rows[i] + 16);
    nans |= _mm512_cmp_ps_mask(x0, x1, _CMP_UNORD_Q);
    const __m512i h0 = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x0), half), upper);
    const __m512i h1 = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x1), half), upper);
    const __m512i l0 = _mm512_castps_si512(_mm512_sub_ps(x0, _mm512_castsi512_ps(h0)));
    const __m512i l1 = _mm512_castps_si512(_mm512_sub_ps(x1, _mm512_castsi512_ps(h1)));
    const __m512i r0 = _mm512_srli_epi32(_mm512_add_epi32(l0, half), 16);
    const __m512i r1 = _mm512_and_si512(_mm512_add_epi32(l1, half), upper);
    _mm512_store_si512(first, _mm512_or_si512(h1, _mm512_srli_epi32(h0, 16)));
    _mm512_store_si512(second, _mm512_or_si512(r1, r0));
  }
  return nans == 0;
}

/* Both parts of B by those of A but the product of the second ones. */
static inline void add_products(const uint8_t* b) {
  _tile_loadd(6, b, kLineBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, b + kTileBytes, kLineBytes);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(0, 5, 6);
  _tile_dpbf16ps(1, 5, 7);
  _tile_loadd(6, b + 2 * kTileBytes, kLineBytes);
  _tile_dpbf16ps(2, 4, 6);
  _tile_loadd(7, b + 3 * kTileBytes, kLineBytes);
  _tile_dpbf16ps(3, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
  b += kPartBytes;
  _tile_loadd(6, b, kLineBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, b + kTileBytes, kLineBytes);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(6, b + 2 * kTileBytes, kLineBytes);
  _tile_dpbf16ps(2, 4, 6);
  _tile_loadd(7, b + 3 * kTileBytes, kLineBytes);
  _tile_dpbf16ps(3, 4, 7);
}

static inline void start_sums(const float* biases) {
  _tile_loadd(0, biases, 0);
  _tile_loadd(1, biases + kTileColumns, 0);
  _tile_loadd(2, biases + 2 * kTileColumns, 0);
  _tile_loadd(3, biases + 3 * kTileColumns, 0);
}

static inline void store_sums(float* sums) {
  _tile_stored(0, sums, SPLIT_COLUMNS * sizeof(float));
  _tile_stored(1, sums + kTileColumns, SPLIT_COLUMNS * sizeof(float));
  _tile_stored(2, sums + 2 * kTileColumns, SPLIT_COLUMNS * sizeof(float));
  _tile_stored(3, sums + 3 * kTileColumns, SPLIT_COLUMNS * sizeof(float));
}

/* Whether all results are numbers. */
static int write_results(const struct split_call* call, const float* sums, float* c,
                         size_t columns) {
  const __m512 low = _mm512_set1_ps(call->low), high = _mm512_set1_ps(call->high);
  __mmask16 nans = 0;
  for (size_t row = 0; row < call->rows; ++row) {
    float* out = (float*)((char*)c + row * call->row_stride);
    for (size_t i = 0; i < columns; i += kTileColumns) {
      const __mmask16 mask = mask_of(columns - i);
      const __m512 sum = _mm512_load_ps(sums + row * SPLIT_COLUMNS + i);
      nans |= _mm512_mask_cmp_ps_mask(mask, sum, sum, _CMP_UNORD_Q);
      _mm512_mask_storeu_ps(out + i, mask, _mm512_min_ps(_mm512_max_ps(sum, low), high));
    }
  }
  return nans == 0;
}

/* A tile once more, of the floats as they are by both parts of B added up. */
static void multiply_floats(const struct split_call* call, const uint8_t* panel, float* c,
                            size_t columns) {
  const __m512 low = _mm512_set1_ps(call->low), high = _mm512_set1_ps(call->high);
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
  for (size_t first = 0; first < columns; first += kTileColumns) {
    const uint8_t* b = panel + SPLIT_COLUMNS * sizeof(float) + first / kTileColumns * kTileBytes;
    __m512 sums[SPLIT_MAX_ROWS];
    for (size_t i = 0; i < call->rows; ++i) {
      sums[i] = _mm512_loadu_ps((const float*)panel + first);
    }
    for (size_t tap = 0; tap < call->taps; ++tap) {
      for (size_t start = 0; start < call->depth; start += SPLIT_DEPTH, b += 2 * kPartBytes) {
        for (size_t j = 0; j < SPLIT_DEPTH && start + j < call->depth; ++j) {
          const uint8_t* line = b + j % 16 * kLineBytes;
          __m512i b1 = _mm512_loadu_si512(line), b2 = _mm512_loadu_si512(line + kPartBytes);
          if (j < 16) {
            b1 = _mm512_slli_epi32(b1, 16);
            b2 = _mm512_slli_epi32(b2, 16);
          }
          const __m512 weights = _mm512_add_ps(_mm512_castsi512_ps(_mm512_and_si512(b1, upper)),
                                               _mm512_castsi512_ps(_mm512_and_si512(b2, upper)));
          for (size_t i = 0; i < call->rows; ++i) {
            const __m512 a = _mm512_set1_ps(split_row(call, tap, i)[start + j]);
            sums[i] = _mm512_fmadd_ps(a, weights, sums[i]);
          }
        }
      }
    }
    for (size_t i = 0; i < call->rows; ++i) {
      /* Of two numbers one of which is none, the second one. */
      const __m512 sum = _mm512_min_ps(high, _mm512_max_ps(low, sums[i]));
      _mm512_mask_storeu_ps((float*)((char*)c + i * call->row_stride) + first,
                            mask_of(columns - first), sum);
    }
  }
}

void split_multiply_amx(const struct split_call* call) {
  _Alignas(64) uint8_t parts[kMaxKept][2][SPLIT_MAX_ROWS * kLineBytes];
  _Alignas(64) float sums[SPLIT_MAX_ROWS * SPLIT_COLUMNS];
  const float* rows[SPLIT_MAX_ROWS];
  const size_t pieces = (call->depth + SPLIT_DEPTH - 1) / SPLIT_DEPTH;
  const int is_kept = call->taps * pieces <= kMaxKept;
  const uint8_t* packed = (const uint8_t*)call->packed;
  char* c = (char*)call->c;
  int are_numbers = 1;
  configure(call->rows);
  for (size_t column = 0; column < call->columns; column += SPLIT_COLUMNS) {
    const uint8_t* const panel = packed;
    start_sums((const float*)packed);
    packed += SPLIT_COLUMNS * sizeof(float);
    size_t piece = 0;
    for (size_t tap = 0; tap < call->taps; ++tap) {
      for (size_t i = 0; i < call->rows; ++i) rows[i] = split_row(call, tap, i);
      for (size_t start = 0; start < call->depth; start += SPLIT_DEPTH, ++piece) {
        const size_t place = is_kept ? piece : piece % 2;
        if (column == 0 || !is_kept) {
          are_numbers &=
              split_rows(rows, call->rows, call->depth - start, parts[place][0], parts[place][1]);
          for (size_t i = 0; i < call->rows; ++i) rows[i] += SPLIT_DEPTH;
        }
        _tile_loadd(4, parts[place][0], kLineBytes);
        _tile_loadd(5, parts[place][1], kLineBytes);
        add_products(packed);
        packed += 2 * kPartBytes;
      }
    }
    store_sums(sums);
    const size_t left = call->columns - column;
    const size_t count = left < SPLIT_COLUMNS ? left : SPLIT_COLUMNS;
    if (!write_results(call, sums, (float*)c, count) || !are_numbers) {
      multiply_floats(call, panel, (float*)c, count);
    }
    c += call->panel_stride;
  }
  _tile_release();
}
