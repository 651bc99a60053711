/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of floats by matrix units that multiply bfloat16 (AMX): each float is split into the
 * sum of two bfloat16, and three of the four products are added up in floats.
 *
 *   a = a1 + a2,  b = b1 + b2        a1 = a rounded to 8 bits, a2 = the rest rounded to 8 bits
 *   a * b ~ a1 * b1 + a2 * b1 + a1 * b2
 *
 * What is left out is at most 3 * 2^-18 of |a * b|: 17 bits of 24. Elements below 2^-126 count
 * as 0. A result that is not a number is computed once more from a and b1 + b2 in floats, so
 * that infinities are where floats have them.
 *
 * Packed weights have the columns of B in panels of 64, and of each 32 rows eight tiles of 1 KB,
 * the rows of which are the pairs of rows that a matrix unit takes:
 *
 *   64 biases | rows 0 to 31: b1 of columns 0, 16, 32, 48, then b2 | rows 32 to 63 ... | panel 1
 *
 *   tile: 16 lines of 16 pairs, line j having rows j and j + 16 of 16 columns
 *
 * Rows are padded with zeros to a multiple of 32, once for each of the `taps` of a window, so
 * that they take as many bytes as floats would.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_SPLIT_SPLIT_H_
#define PETREL_THIRD_PARTY_XNNPACK_SPLIT_SPLIT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SPLIT_MAX_ROWS = 16, /* of A in one call */
  SPLIT_COLUMNS = 64,  /* of a panel */
  SPLIT_DEPTH = 32,    /* rows of B that are packed together */
};

/* Floats of one panel. */
size_t split_panel_floats(size_t taps, size_t depth);

/* Packs `count` columns, at most SPLIT_COLUMNS: B[tap][k][column] is
 * weights[column * column_stride + (tap * depth + k) * row_stride]. No biases: zeros. */
void split_pack_panel(size_t taps, size_t depth, size_t count, size_t column_stride,
                      size_t row_stride, const float* weights, const float* biases, float* packed);

/* One call: `rows` of A by as many columns as C has, in panels one behind the other. All
 * strides are in bytes. */
struct split_call {
  size_t rows;
  size_t columns;
  size_t taps;
  size_t depth;          /* floats of a row of A in one tap */
  const float* const* a; /* taps * a_step pointers to rows; null: one tap of rows at `first` */
  size_t a_step;         /* pointers between taps */
  size_t a_offset;       /* added to all pointers but `zero`, in bytes */
  const float* zero;
  const float* first;
  size_t a_stride; /* between rows from `first` on */
  const float* packed;
  float* c;
  size_t row_stride;   /* of C */
  size_t panel_stride; /* of C, between panels */
  float low, high;     /* bounds of results */
};

/* Where a row begins in a tap. */
static inline const float* split_row(const struct split_call* call, size_t tap, size_t row) {
  if (call->a == NULL) return (const float*)((const char*)call->first + row * call->a_stride);
  const float* a = call->a[tap * call->a_step + row];
  return a == call->zero ? a : (const float*)((const char*)a + call->a_offset);
}

/* By AMX, of a processor that has amx_bf16 and avx512_bf16, for which the system was asked. */
void split_multiply_amx(const struct split_call* call);

/* The same packed weights in floats, on any processor: for tests. `first` and `count` are columns
 * of C. */
void split_multiply_plain(const struct split_call* call, size_t first, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_SPLIT_SPLIT_H_ */
