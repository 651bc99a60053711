/* SPDX-License-Identifier: Apache-2.0 */
#include "third_party/xnnpack/split/split.h"

#include <math.h>
#include <string.h>

enum {
  kTileColumns = 16,
  kTileFloats = SPLIT_DEPTH / 2 * kTileColumns, /* of 4 bytes, each a pair */
  kTiles = SPLIT_COLUMNS / kTileColumns,
  kChunkFloats = 2 * kTiles * kTileFloats,
};

static size_t chunks_of(size_t depth) { return (depth + SPLIT_DEPTH - 1) / SPLIT_DEPTH; }

size_t split_panel_floats(size_t taps, size_t depth) {
  return SPLIT_COLUMNS + taps * chunks_of(depth) * kChunkFloats;
}

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}

static float number_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

/* The upper half of the nearest bfloat16; of what would become infinite, the greatest. Without
 * branches, so that compilers make vectors of it. */
static inline uint32_t rounded(uint32_t bits) {
  const uint32_t up = bits + 0x7fff + (bits >> 16 & 1);
  const uint32_t is_infinite = -(uint32_t)((int32_t)(up << 1) >> 24 == -1);
  return ((up & ~is_infinite) | (bits & is_infinite)) & 0xffff0000;
}

/* b1 in the upper half, b2 in the lower one. Nothing is left of what is not finite; a NaN stays
 * one, whatever bits it has. */
static inline uint32_t split(float number) {
  const uint32_t bits = bits_of(number);
  const uint32_t is_nan = -(uint32_t)((int32_t)(bits & 0x7fffffff) > 0x7f800000);
  const uint32_t is_finite = -(uint32_t)((int32_t)(bits & 0x7fffffff) < 0x7f800000);
  const uint32_t first = (rounded(bits) & ~is_nan) | (is_nan & 0x7fc00000);
  const float left = number - number_of(first);
  return first | (rounded(bits_of(left)) & is_finite) >> 16;
}

/* 32 rows of a column, those from `rows` on as zeros, and what a tile has of them in place of two
 * numbers: both b1, and both b2. */
static void pack_column(const float* in, size_t rows, size_t row_stride, uint32_t* tile) {
  float numbers[SPLIT_DEPTH] = {0};
  uint32_t parts[SPLIT_DEPTH];
  for (size_t k = 0; k < rows; ++k) numbers[k] = in[k * row_stride];
  for (size_t k = 0; k < SPLIT_DEPTH; ++k) parts[k] = split(numbers[k]);
  for (size_t j = 0; j < SPLIT_DEPTH / 2; ++j) {
    const uint32_t low = parts[j], high = parts[j + SPLIT_DEPTH / 2];
    tile[j * kTileColumns] = (high & 0xffff0000) | low >> 16;
    tile[kTiles * kTileFloats + j * kTileColumns] = high << 16 | (low & 0xffff);
  }
}

void split_pack_panel(size_t taps, size_t depth, size_t count, size_t column_stride,
                      size_t row_stride, const float* weights, const float* biases, float* packed) {
  for (size_t i = 0; i < SPLIT_COLUMNS; ++i) {
    packed[i] = i < count && biases != NULL ? biases[i] : 0.0f;
  }
  uint32_t* out = (uint32_t*)(packed + SPLIT_COLUMNS);
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t start = 0; start < depth; start += SPLIT_DEPTH, out += kChunkFloats) {
      const size_t rows = depth - start < SPLIT_DEPTH ? depth - start : SPLIT_DEPTH;
      const float* in = weights + (tap * depth + start) * row_stride;
      for (size_t column = 0; column < SPLIT_COLUMNS; ++column) {
        pack_column(in + column * column_stride, column < count ? rows : 0, row_stride,
                    out + column / kTileColumns * kTileFloats + column % kTileColumns);
      }
    }
  }
}

static float weight_at(const float* chunk, size_t column, size_t k) {
  const size_t tile = column / kTileColumns * kTileFloats;
  const size_t place = k % (SPLIT_DEPTH / 2) * kTileColumns + column % kTileColumns;
  const uint32_t first = bits_of(chunk[tile + place]);
  const uint32_t second = bits_of(chunk[kTiles * kTileFloats + tile + place]);
  return k < SPLIT_DEPTH / 2 ? number_of(first << 16) + number_of(second << 16)
                             : number_of(first & 0xffff0000) + number_of(second & 0xffff0000);
}

static float product_at(const struct split_call* call, const float* panel, size_t row,
                        size_t column) {
  float sum = panel[column];
  const float* chunk = panel + SPLIT_COLUMNS;
  for (size_t tap = 0; tap < call->taps; ++tap) {
    const float* a = split_row(call, tap, row);
    for (size_t start = 0; start < call->depth; start += SPLIT_DEPTH, chunk += kChunkFloats) {
      for (size_t k = 0; k < SPLIT_DEPTH && start + k < call->depth; ++k) {
        sum += a[start + k] * weight_at(chunk, column, k);
      }
    }
  }
  return sum;
}

void split_multiply_plain(const struct split_call* call, size_t first, size_t count) {
  const size_t panel_floats = split_panel_floats(call->taps, call->depth);
  for (size_t i = first; i < first + count; ++i) {
    const size_t panel = i / SPLIT_COLUMNS, column = i % SPLIT_COLUMNS;
    float* c = (float*)((char*)call->c + panel * call->panel_stride) + column;
    for (size_t row = 0; row < call->rows; ++row) {
      float sum = product_at(call, call->packed + panel * panel_floats, row, column);
      if (sum < call->low) sum = call->low;
      if (sum > call->high) sum = call->high;
      *(float*)((char*)c + row * call->row_stride) = sum;
    }
  }
}
