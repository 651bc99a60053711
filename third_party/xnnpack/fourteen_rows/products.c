/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/fourteen_rows/products.h"

#include <immintrin.h>
#include <stdint.h>

#include "third_party/xnnpack/fourteen_rows/tile.h"
#include "third_party/xnnpack/zero_taps.h"

#define ROWS WIDE_ROWS
#define COLUMNS WIDE_COLUMNS
#define HALF (COLUMNS / 2)

/* Bytes from weights that are read to those that are brought to a cache: what comes from memory
 * takes as long as a page needs. Of many blocks side by side each is waited for less, and what is
 * brought too early costs more where weights lie in the last cache. */
#define NEAR 2048
#define FAR 4096
#define NEXT 512

/* A convolution's windows, or a product, which is one with one pointer per row. */
struct product {
  size_t mr;       /* rows that are stored */
  size_t kc;       /* elements behind a pointer */
  size_t pointers; /* ROWS for each element of a window */
  const float** a;
  size_t a_offset; /* of all pointers but zero */
  const float* zero;
  size_t w_block;  /* floats of weights of a block of columns */
  size_t skipped;  /* floats of one column that lie between its bias and its first weight */
  size_t c_stride; /* bytes from row to row */
  size_t block_stride;
  float min, max;
  struct petrel_ahead ahead;
};

static inline const float* find_row(const struct product* p, size_t at) {
  const float* row = p->a[at];
  return row == p->zero ? row : (const float*)((uintptr_t)row + p->a_offset);
}

static inline float* row_of(const struct product* p, float* c, size_t row) {
  return (float*)((uintptr_t)c + p->c_stride * row);
}

static inline __m512 clamp(const struct product* p, __m512 sum) {
  return _mm512_min_ps(_mm512_set1_ps(p->max), _mm512_max_ps(_mm512_set1_ps(p->min), sum));
}

/* Computes `z` vectors of 16 columns and, if `half`, 8 more, of `rows` rows from `first` on, with
 * weights of blocks of `width`; stores `columns` of those that there are. All of rows, z, half and
 * width are constants. */
static inline __attribute__((always_inline)) void block_of(const int rows, const int z,
                                                           const int half, const size_t width,
                                                           size_t first, const struct product* p,
                                                           const float* w, float* c,
                                                           size_t columns) {
  __m512 sums[12][2];
  __m256 narrow[12];
  const char* later = (const char*)w + petrel_offset(p->ahead);
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) {
    if (z > 0) sums[i][0] = _mm512_loadu_ps(w);
    if (z > 1) sums[i][1] = _mm512_loadu_ps(w + 16);
    if (half) narrow[i] = _mm256_loadu_ps(w + 16 * z);
  }
  w += width * (1 + p->skipped);
  for (size_t at = first; at < p->pointers; at += ROWS) {
    const float* in[12];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) in[i] = find_row(p, at + (size_t)i);
    for (size_t k = 0; k < p->kc; k++) {
      __m512 b0, b1;
      __m256 bn;
      if (z > 0) b0 = _mm512_loadu_ps(w);
      if (z > 1) b1 = _mm512_loadu_ps(w + 16);
      if (half) bn = _mm256_loadu_ps(w + 16 * z);
      if (z > 1) _mm_prefetch(later, _MM_HINT_T1);
      later += petrel_step(p->ahead);
      w += width;
#pragma GCC unroll 12
      for (int i = 0; i < rows; i++) {
        if (z > 0) {
          const __m512 x = _mm512_set1_ps(in[i][k]);
          sums[i][0] = _mm512_fmadd_ps(x, b0, sums[i][0]);
          if (z > 1) sums[i][1] = _mm512_fmadd_ps(x, b1, sums[i][1]);
          if (half) narrow[i] = _mm256_fmadd_ps(_mm512_castps512_ps256(x), bn, narrow[i]);
        } else {
          narrow[i] = _mm256_fmadd_ps(_mm256_set1_ps(in[i][k]), bn, narrow[i]);
        }
      }
    }
  }
  const uint32_t mask = columns >= COLUMNS ? UINT32_MAX : (UINT32_C(1) << columns) - 1;
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) {
    if (first + (size_t)i >= p->mr) return;
    float* out = row_of(p, c, first + (size_t)i);
#pragma GCC unroll 2
    for (int j = 0; j < z; j++) {
      _mm512_mask_storeu_ps(out + 16 * j, (__mmask16)(mask >> (16 * j)), clamp(p, sums[i][j]));
    }
    if (half) {
      const __m512 y = clamp(p, _mm512_castps256_ps512(narrow[i]));
      _mm512_mask_storeu_ps(out + 16 * z, (__mmask16)(mask >> (16 * z) & 0xFF), y);
    }
  }
}

static inline __attribute__((always_inline)) void block(const int rows, const int z, const int half,
                                                        size_t first, const struct product* p,
                                                        const float* w, float* c, size_t columns) {
  block_of(rows, z, half, COLUMNS, first, p, w, c, columns);
}

/* Seven rows, or as many as there are from `first` on, of a whole block and of up to 16 columns of
 * the next, which is the last one: an input serves three vectors of weights and not one. */
static void block_and_half(size_t first, const struct product* p, const float* w, float* c,
                           size_t columns) {
  __m512 sums[7][3];
  const float* next = w + p->w_block;
#pragma GCC unroll 7
  for (int i = 0; i < 7; i++) {
    sums[i][0] = _mm512_loadu_ps(w);
    sums[i][1] = _mm512_loadu_ps(w + 16);
    sums[i][2] = _mm512_loadu_ps(next);
  }
  w += COLUMNS * (1 + p->skipped);
  next += COLUMNS * (1 + p->skipped);
  for (size_t at = first; at < p->pointers; at += ROWS) {
    const float* in[7];
#pragma GCC unroll 7
    for (int i = 0; i < 7; i++) in[i] = find_row(p, at + (size_t)i);
    for (size_t k = 0; k < p->kc; k++) {
      const __m512 b0 = _mm512_loadu_ps(w);
      const __m512 b1 = _mm512_loadu_ps(w + 16);
      const __m512 b2 = _mm512_loadu_ps(next);
      _mm_prefetch((const char*)w + NEAR, _MM_HINT_T0);
      _mm_prefetch((const char*)w + NEAR + 64, _MM_HINT_T0);
      _mm_prefetch((const char*)next + NEAR, _MM_HINT_T0);
      w += COLUMNS;
      next += COLUMNS;
#pragma GCC unroll 7
      for (int i = 0; i < 7; i++) {
        const __m512 x = _mm512_set1_ps(in[i][k]);
        sums[i][0] = _mm512_fmadd_ps(x, b0, sums[i][0]);
        sums[i][1] = _mm512_fmadd_ps(x, b1, sums[i][1]);
        sums[i][2] = _mm512_fmadd_ps(x, b2, sums[i][2]);
      }
    }
  }
  const __mmask16 there = (__mmask16)((1u << (columns - COLUMNS)) - 1);
#pragma GCC unroll 7
  for (int i = 0; i < 7; i++) {
    if (first + (size_t)i >= p->mr) return;
    float* out = row_of(p, c, first + (size_t)i);
    _mm512_storeu_ps(out, clamp(p, sums[i][0]));
    _mm512_storeu_ps(out + 16, clamp(p, sums[i][1]));
    float* beside = (float*)((uintptr_t)out + p->block_stride);
    _mm512_mask_storeu_ps(beside, there, clamp(p, sums[i][2]));
  }
}

/* `blocks` whole blocks of exactly `rows` rows; both constants. A sum waits for itself, and few
 * rows have few sums: some such blocks are computed side by side. Weights are brought ahead, as
 * few rows wait for nothing else. */
static inline __attribute__((always_inline)) void adjacent_blocks(const int rows, const int blocks,
                                                                  const struct product* p,
                                                                  const float* w, float* c) {
  __m512 sums[4][8][2];
#pragma GCC unroll 8
  for (int b = 0; b < blocks; b++) {
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
      sums[i][b][0] = _mm512_loadu_ps(w + (size_t)b * p->w_block);
      sums[i][b][1] = _mm512_loadu_ps(w + (size_t)b * p->w_block + 16);
    }
  }
  w += COLUMNS * (1 + p->skipped);
  for (size_t at = 0; at < p->pointers; at += ROWS) {
    const float* in[4];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) in[i] = find_row(p, at + (size_t)i);
    for (size_t k = 0; k < p->kc; k++) {
      __m512 x[4];
#pragma GCC unroll 4
      for (int i = 0; i < rows; i++) x[i] = _mm512_set1_ps(in[i][k]);
#pragma GCC unroll 8
      for (int b = 0; b < blocks; b++) {
        const float* at_b = w + (size_t)b * p->w_block;
        const char* later = (const char*)at_b + (blocks > 2 ? NEXT : FAR);
        _mm_prefetch(later, _MM_HINT_T0);
        _mm_prefetch(later + 64, _MM_HINT_T0);
        const __m512 b0 = _mm512_loadu_ps(at_b);
        const __m512 b1 = _mm512_loadu_ps(at_b + 16);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
          sums[i][b][0] = _mm512_fmadd_ps(x[i], b0, sums[i][b][0]);
          sums[i][b][1] = _mm512_fmadd_ps(x[i], b1, sums[i][b][1]);
        }
      }
      w += COLUMNS;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; i++) {
#pragma GCC unroll 8
    for (int b = 0; b < blocks; b++) {
      float* out = (float*)((uintptr_t)row_of(p, c, (size_t)i) + p->block_stride * (size_t)b);
      _mm512_storeu_ps(out, clamp(p, sums[i][b][0]));
      _mm512_storeu_ps(out + 16, clamp(p, sums[i][b][1]));
    }
  }
}

/* As many of the `blocks` whole blocks that are left as are computed side by side, of up to four
 * rows. Returns how many. */
static size_t few_rows(const struct product* p, const float* w, float* c, size_t blocks) {
  if (p->mr == 1 && blocks >= 8) return adjacent_blocks(1, 8, p, w, c), 8;
  if (p->mr == 1 && blocks >= 4) return adjacent_blocks(1, 4, p, w, c), 4;
  if (p->mr == 2 && blocks >= 4) return adjacent_blocks(2, 4, p, w, c), 4;
  if (p->mr == 4) return adjacent_blocks(4, 1, p, w, c), 1;
  if (blocks >= 2) {
    if (p->mr == 1) adjacent_blocks(1, 2, p, w, c);
    if (p->mr == 2) adjacent_blocks(2, 2, p, w, c);
    if (p->mr == 3) adjacent_blocks(3, 2, p, w, c);
    return 2;
  }
  if (p->mr == 1) adjacent_blocks(1, 1, p, w, c);
  if (p->mr == 2) adjacent_blocks(2, 1, p, w, c);
  if (p->mr == 3) adjacent_blocks(3, 1, p, w, c);
  return 1;
}

/* Up to four or up to seven rows from `first` on, of a block of which some columns are there. */
static void narrow_rows(size_t first, const struct product* p, const float* w, float* c,
                        size_t columns) {
  if (p->mr - first <= 4) {
    if (columns <= 8) {
      block(4, 0, 1, first, p, w, c, columns);
    } else if (columns <= 16) {
      block(4, 1, 0, first, p, w, c, columns);
    } else {
      block(4, 2, 0, first, p, w, c, columns);
    }
  } else if (columns <= 8) {
    block(7, 0, 1, first, p, w, c, columns);
  } else if (columns <= 16) {
    block(7, 1, 0, first, p, w, c, columns);
  } else if (columns <= 24) {
    block(7, 1, 1, first, p, w, c, columns);
  } else {
    block(7, 2, 0, first, p, w, c, columns);
  }
}

#if HAS_WIDE_TILE

/* Up to fourteen rows of more than 8 columns, with weights of blocks of `width`. */
static void wide_tile(const struct product* p, const float* w, float* c, size_t columns,
                      size_t width) {
  const int is_whole = p->mr == ROWS && (columns == COLUMNS || columns == HALF);
  float sums[ROWS * COLUMNS];
  const struct wide_tile tile = {
      .pointers = p->a,
      .elements = p->pointers / ROWS,
      .zero = p->zero,
      .offset = p->a_offset,
      .fours = p->kc / 4,
      .ones = p->kc % 4,
      .rest = p->kc % 4 * width * sizeof(float),
      .skipped = p->skipped * width * sizeof(float),
      .ahead = (const char*)w + petrel_offset(p->ahead),
      .step = petrel_step(p->ahead),
      .output = is_whole ? c : sums,
      .output_stride = is_whole ? p->c_stride : COLUMNS * sizeof(float),
      .weights = w,
      .min = p->min,
      .max = p->max,
  };
  if (columns > HALF) {
    compute_tile_of_32(&tile);
  } else if (width == COLUMNS) {
    compute_tile_of_16(&tile);
  } else {
    compute_narrow_tile(&tile);
  }
  if (is_whole) return;
  const uint32_t mask = columns == COLUMNS ? UINT32_MAX : (UINT32_C(1) << columns) - 1;
  for (size_t i = 0; i < p->mr; i++) {
    float* out = row_of(p, c, i);
    const float* sum = sums + i * COLUMNS;
    _mm512_mask_storeu_ps(out, (__mmask16)mask, _mm512_loadu_ps(sum));
    if (columns <= HALF) continue;
    _mm512_mask_storeu_ps(out + HALF, (__mmask16)(mask >> HALF), _mm512_loadu_ps(sum + HALF));
  }
}

#else

static void wide_tile(const struct product* p, const float* w, float* c, size_t columns,
                      size_t width) {
  if (width == COLUMNS) {
    narrow_rows(0, p, w, c, columns);
    if (p->mr > 7) narrow_rows(7, p, w, c, columns);
  } else {
    block_of(7, 1, 0, HALF, 0, p, w, c, columns);
    if (p->mr > 7) block_of(7, 1, 0, HALF, 7, p, w, c, columns);
  }
}

#endif

/* Whether the lines of more than ten rows lie in one set of the first-level cache. It keeps 8 or
 * 12 lines, so that rows drive each other out before all of a line is read. It is so where rows
 * are a multiple of 4 KB apart, as those of 1024 floats are. */
static int rows_collide(const struct product* p) {
  /* The middle of a window is seldom outside of the image. */
  const float** middle = p->a + p->pointers / ROWS / 2 * ROWS;
  size_t beside = 1;
  for (size_t i = 1; i < p->mr; i++) {
    const uintptr_t apart = (uintptr_t)middle[i] - (uintptr_t)middle[0];
    beside += middle[i] != p->zero && apart % 4096 < 64;
  }
  return beside > 10;
}

/* Five to twelve rows from `first` on, and no more of them than there are. */
static void some_rows(size_t first, size_t rows, const struct product* p, const float* w, float* c,
                      size_t columns) {
  if (rows == 5) block(5, 2, 0, first, p, w, c, columns);
  if (rows == 6) block(6, 2, 0, first, p, w, c, columns);
  if (rows == 7) block(7, 2, 0, first, p, w, c, columns);
  if (rows == 8) block(8, 2, 0, first, p, w, c, columns);
  if (rows == 9) block(9, 2, 0, first, p, w, c, columns);
  if (rows == 10) block(10, 2, 0, first, p, w, c, columns);
  if (rows == 11) block(11, 2, 0, first, p, w, c, columns);
  if (rows == 12) block(12, 2, 0, first, p, w, c, columns);
}

/* More than four rows of a block of which some columns are there. */
static void many_rows(const struct product* p, int collide, const float* w, float* c,
                      size_t columns) {
  /* Pointers to 14 rows take longer to find than three of their inputs to multiply. */
  const int is_tile = p->kc > 3 && (columns > 24 || (columns > 8 && columns <= 16));
  if (collide && columns > 24) {
    const size_t half = (p->mr + 1) / 2;
    some_rows(0, half, p, w, c, columns);
    some_rows(half, p->mr - half, p, w, c, columns);
  } else if (p->mr <= 12 && columns > 24) {
    some_rows(0, p->mr, p, w, c, columns);
  } else if (p->mr > 10 && is_tile) {
    wide_tile(p, w, c, columns, COLUMNS);
  } else {
    narrow_rows(0, p, w, c, columns);
    if (p->mr > 7) narrow_rows(7, p, w, c, columns);
  }
}

static void compute(const struct product* p, const float* w, float* c, size_t nc) {
  const int collide = p->mr > 10 && rows_collide(p);
  for (size_t done = 0; nc != 0; nc -= done) {
    const size_t columns = nc < COLUMNS ? nc : COLUMNS;
    petrel_open_pages((const char*)w + petrel_offset(p->ahead),
                      p->w_block / COLUMNS * petrel_step(p->ahead));
    size_t blocks = 1;
    if (p->mr > 4 && nc > COLUMNS && nc <= COLUMNS + COLUMNS / 2) {
      block_and_half(0, p, w, c, nc);
      if (p->mr > 7) block_and_half(7, p, w, c, nc);
      blocks = 2;
    } else if (p->mr > 4) {
      many_rows(p, collide, w, c, columns);
    } else if (columns == COLUMNS) {
      blocks = few_rows(p, w, c, nc / COLUMNS);
    } else {
      narrow_rows(0, p, w, c, columns);
    }
    done = nc < blocks * COLUMNS ? nc : blocks * COLUMNS;
    w += blocks * p->w_block;
    c = (float*)((uintptr_t)c + blocks * p->block_stride);
  }
}

/* Blocks of 16 columns. */
static void compute_halves(const struct product* p, const float* w, float* c, size_t nc) {
  for (size_t columns; nc != 0; nc -= columns) {
    columns = nc < HALF ? nc : HALF;
    if (p->mr <= 4) {
      block_of(4, 1, 0, HALF, 0, p, w, c, columns);
    } else if (p->mr > 10 && p->kc > 3) {
      wide_tile(p, w, c, columns, HALF);
    } else {
      block_of(7, 1, 0, HALF, 0, p, w, c, columns);
      if (p->mr > 7) block_of(7, 1, 0, HALF, 7, p, w, c, columns);
    }
    w += p->w_block;
    c = (float*)((uintptr_t)c + p->block_stride);
  }
}

/* With weights of blocks of `width`; the rest as XNNPACK's kernels get it. */
static inline struct product product_of(size_t width, size_t mr, size_t kc, size_t ks,
                                        const float** a, size_t cm_stride, size_t cn_stride,
                                        size_t a_offset, const float* zero,
                                        const union xnn_f32_minmax_params* params,
                                        struct petrel_ahead ahead) {
  const size_t depth = kc / sizeof(float);
  const struct petrel_taps taps = petrel_leave_out_zeros(a, ks / sizeof(void*), ROWS, zero);
  const struct product p = {
      .mr = mr,
      .kc = depth,
      .pointers = taps.count,
      .a = taps.pointers,
      .a_offset = a_offset,
      .zero = zero,
      .w_block = width * (1 + ks / sizeof(void*) / ROWS * depth),
      .skipped = taps.skipped * depth,
      .c_stride = cm_stride,
      .block_stride = cn_stride,
      .min = params->scalar.min,
      .max = params->scalar.max,
      .ahead = ahead,
  };
  return p;
}

/* Where no later panel is brought: weights of the block itself, each second line. Processors
 * bring the other one with it. */
#define SAME_BLOCKS petrel_bring(FAR, 128)

void petrel_f32_igemm_ahead_14x32__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                           const float** a, const float* w, float* c,
                                           size_t cm_stride, size_t cn_stride, size_t a_offset,
                                           const float* zero,
                                           const union xnn_f32_minmax_params* params,
                                           struct petrel_ahead ahead) {
  const struct product p =
      product_of(COLUMNS, mr, kc, ks, a, cm_stride, cn_stride, a_offset, zero, params, ahead);
  compute(&p, w, c, nc);
}

void petrel_f32_igemm_minmax_ukernel_14x32__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                                    const float** a, const float* w, float* c,
                                                    size_t cm_stride, size_t cn_stride,
                                                    size_t a_offset, const float* zero,
                                                    const union xnn_f32_minmax_params* params) {
  petrel_f32_igemm_ahead_14x32__avx512f(mr, nc, kc, ks, a, w, c, cm_stride, cn_stride, a_offset,
                                        zero, params, SAME_BLOCKS);
}

/* Rows that do not exist are read where the last one is. */
static void find_rows(size_t mr, const float* a, size_t a_stride, const float** rows) {
  for (size_t i = 0; i < ROWS; i++) {
    rows[i] = (const float*)((uintptr_t)a + a_stride * (i < mr ? i : mr - 1));
  }
}

void petrel_f32_gemm_ahead_14x32__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                          size_t a_stride, const float* w, float* c,
                                          size_t cm_stride, size_t cn_stride,
                                          const union xnn_f32_minmax_params* params,
                                          struct petrel_ahead ahead) {
  const float* rows[ROWS];
  find_rows(mr, a, a_stride, rows);
  petrel_f32_igemm_ahead_14x32__avx512f(mr, nc, kc, ROWS * sizeof(void*), rows, w, c, cm_stride,
                                        cn_stride, 0, NULL, params, ahead);
}

void petrel_f32_gemm_minmax_ukernel_14x32__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                                   size_t a_stride, const float* w, float* c,
                                                   size_t cm_stride, size_t cn_stride,
                                                   const union xnn_f32_minmax_params* params) {
  petrel_f32_gemm_ahead_14x32__avx512f(mr, nc, kc, a, a_stride, w, c, cm_stride, cn_stride, params,
                                       SAME_BLOCKS);
}

void petrel_f32_igemm_minmax_ukernel_14x16__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                                    const float** a, const float* w, float* c,
                                                    size_t cm_stride, size_t cn_stride,
                                                    size_t a_offset, const float* zero,
                                                    const union xnn_f32_minmax_params* params) {
  const struct product p = product_of(HALF, mr, kc, ks, a, cm_stride, cn_stride, a_offset, zero,
                                      params, petrel_bring(FAR, 64));
  compute_halves(&p, w, c, nc);
}

void petrel_f32_gemm_minmax_ukernel_14x16__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                                   size_t a_stride, const float* w, float* c,
                                                   size_t cm_stride, size_t cn_stride,
                                                   const union xnn_f32_minmax_params* params) {
  const float* rows[ROWS];
  find_rows(mr, a, a_stride, rows);
  petrel_f32_igemm_minmax_ukernel_14x16__avx512f(mr, nc, kc, sizeof(rows), rows, w, c, cm_stride,
                                                 cn_stride, 0, NULL, params);
}
