/* SPDX-License-Identifier: Apache-2.0
 *
 * The transforms of F(TILE x TILE, 3 x 3) at a stride of STRIDE in vectors of LANES floats, under
 * the name of NAME. Compiled for each tile and each set of instructions, which define these.
 */
#include "third_party/xnnpack/winograd/transforms.h"

#include "third_party/xnnpack/winograd/vectors.h"
#if STRIDE == 2 && TILE == 2
#include "third_party/xnnpack/winograd/lines_2_apart.h"
#elif STRIDE == 2
#include "third_party/xnnpack/winograd/lines_4_apart.h"
#elif TILE == 2
#include "third_party/xnnpack/winograd/lines_2.h"
#else
#include "third_party/xnnpack/winograd/lines_4.h"
#endif

/* Planes of a side of the input, and of the filter: where there are more of the former, the last
 * ones of them share the last of the filter. */
#define SIDE ((TILE - 1) * STRIDE + 3)
#define PLANES (SIDE * SIDE)
#define FILTER_SIDE (TILE + 2)
#define FILTER_PLANES (FILTER_SIDE * FILTER_SIDE)

/* Of a line of a matrix, whose elements are `stride` vectors apart. */
IN_LINE void take(const vec* from, int stride, int count, vec* line) {
  for (int i = 0; i < count; ++i) line[i] = from[i * stride];
}

IN_LINE void put(const vec* line, int count, vec* to, int stride) {
  for (int i = 0; i < count; ++i) to[i * stride] = line[i];
}

/* A row of G g G', of `count` outputs. */
IN_LINE void filter_columns(const float* taps, size_t columns, int row, size_t at, size_t count,
                            float* u, size_t plane_stride) {
  vec h[3];
#pragma GCC unroll 3
  for (int x = 0; x < 3; ++x) {
    vec g[3];
    for (int y = 0; y < 3; ++y) g[y] = load(taps + (size_t)(3 * y + x) * columns + at, count);
    h[x] = filter_at(g, row);
  }
#pragma GCC unroll 6
  for (int x = 0; x < FILTER_SIDE; ++x) {
    store(u + (size_t)x * plane_stride + at, filter_at(h, x), count);
  }
}

IN_LINE void filter_row(const float* taps, size_t depth, size_t columns, int row, float* u,
                        size_t plane_stride) {
  for (size_t k = 0; k < depth; ++k) {
    size_t at = 0;
    for (; at + LANES <= columns; at += LANES) {
      filter_columns(taps, columns, row, at, LANES, u, plane_stride);
    }
    if (at < columns) filter_columns(taps, columns, row, at, columns - at, u, plane_stride);
    taps += 9 * columns;
    u += columns;
  }
}

static void filter(const float* taps, size_t depth, size_t columns, size_t row, float* u,
                   size_t plane_stride) {
#pragma GCC unroll 6
  for (int i = 0; i < FILTER_SIDE; ++i) {
    if (row == (size_t)i) filter_row(taps, depth, columns, i, u, plane_stride);
  }
}

/* B' d B, of `count` channels. */
IN_LINE void input_channels(const float* const* pixels, size_t at, size_t count, float* v,
                            size_t plane_stride) {
  vec t[PLANES];
  vec line[SIDE];
#pragma GCC unroll 1
  for (int x = 0; x < SIDE; ++x) {
    vec d[SIDE];
    for (int y = 0; y < SIDE; ++y) d[y] = load(pixels[SIDE * y + x] + at, count);
    input_line(d, line);
    put(line, SIDE, t + x, SIDE);
  }
#pragma GCC unroll 1
  for (int y = 0; y < SIDE; ++y) {
    float* to = v + (size_t)(SIDE * y) * plane_stride + at;
    input_line(t + SIDE * y, line);
    for (int x = 0; x < SIDE; ++x) store(to + (size_t)x * plane_stride, line[x], count);
  }
}

static void input(const float* const* pixels, size_t depth, float* v, size_t plane_stride) {
  if (depth < LANES) {
    input_channels(pixels, 0, depth, v, plane_stride);
    return;
  }
  for (size_t at = 0; at < depth; at = next(at, depth)) {
    input_channels(pixels, at, LANES, v, plane_stride);
  }
}

/* Adds the bias, and stores `rows` x `columns` pixels. What it returns has a NaN where a result is
 * not finite. */
IN_LINE vec finish(const vec* y, size_t rows, size_t columns, size_t at, size_t count,
                   const struct winograd_target* to) {
  const vec bias = load(to->bias + at, count);
  const vec low = (vec){0} + to->low;
  const vec high = (vec){0} + to->high;
  vec spoiled = {0};
#pragma GCC unroll 4
  for (size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 4
    for (size_t column = 0; column < columns; ++column) {
      const vec sum = y[TILE * row + column] + bias;
      spoiled += sum * 0.0f;
      store(to->output + row * to->row_stride + column * to->column_stride + at,
            clamp(sum, low, high), count);
    }
  }
  return spoiled;
}

IN_LINE bool is_whole(const struct winograd_target* to) {
  return to->rows == TILE && to->columns == TILE;
}

/* A' m A, of `count` channels. */
IN_LINE vec output_channels(const float* m, size_t at, size_t count, size_t plane_stride,
                            const struct winograd_target* to) {
  vec s[TILE * SIDE];
  vec y[TILE * TILE];
#pragma GCC unroll 9
  for (int x = 0; x < SIDE; ++x) {
    vec line[SIDE];
    vec sums[TILE];
    for (int i = 0; i < SIDE; ++i) {
      line[i] = load(m + (size_t)(SIDE * i + x) * plane_stride + at, count);
    }
    output_line(line, sums);
    put(sums, TILE, s + x, SIDE);
  }
#pragma GCC unroll 4
  for (int i = 0; i < TILE; ++i) output_line(s + SIDE * i, y + TILE * i);
  if (is_whole(to)) return finish(y, TILE, TILE, at, count, to);
  return finish(y, to->rows, to->columns, at, count, to);
}

static bool output(const float* m, size_t plane_stride, const struct winograd_target* to) {
  if (to->channels < LANES) return is_zero(output_channels(m, 0, to->channels, plane_stride, to));
  vec spoiled = {0};
  for (size_t at = 0; at < to->channels; at = next(at, to->channels)) {
    spoiled += output_channels(m, at, LANES, plane_stride, to);
  }
  return is_zero(spoiled);
}

/* The filter that a column of the planes was made of: the inverse of G g G'. Some weights are
 * exact; of the others, what may be a rounded 0 is taken for one, since 0 times infinity is not a
 * number. */
IN_LINE void filter_of(const vec* u, vec* g) {
  const float rounding = 0x1p-21f;
  vec h[3 * FILTER_SIDE];
  vec line[FILTER_SIDE];
  vec largest = {0};
  for (int p = 0; p < FILTER_PLANES; ++p) {
    const vec size = choose(u[p] < 0, -u[p], u[p]);
    largest = choose(size > largest, size, largest);
  }
  for (int x = 0; x < FILTER_SIDE; ++x) {
    vec three[3];
    take(u + x, FILTER_SIDE, FILTER_SIDE, line);
    weights_line(line, three);
    put(three, 3, h + x, FILTER_SIDE);
  }
  for (int y = 0; y < 3; ++y) weights_line(h + FILTER_SIDE * y, g + 3 * y);
  const vec zero = {0};
  const vec bound = largest * rounding;
  for (int i = 0; i < 9; ++i) {
    if (i / 3 != ROUNDED_WEIGHT && i % 3 != ROUNDED_WEIGHT) continue;
    g[i] = choose((g[i] < bound) & (g[i] > -bound), zero, g[i]);
  }
}

/* `count` outputs of a tile directly. The filter is kept where `plane_stride` is 0, and packed
 * otherwise. */
IN_LINE void direct_channels(const float* const* pixels, size_t depth, const float* filter,
                             size_t plane_stride, size_t columns, size_t at, size_t count,
                             const struct winograd_target* to) {
  vec sums[TILE * TILE] = {{0}};
  for (size_t k = 0; k < depth; ++k) {
    vec g[9];
    if (plane_stride == 0) {
      for (size_t i = 0; i < 9; ++i) g[i] = load(filter + (9 * k + i) * columns + at, count);
    } else {
      vec planes[FILTER_PLANES];
      for (size_t p = 0; p < FILTER_PLANES; ++p) {
        planes[p] = load(filter + p * plane_stride + k * columns + at, count);
      }
      filter_of(planes, g);
    }
    for (int i = 0; i < 9; ++i) {
      const float* const* corner = pixels + SIDE * (i / 3) + i % 3;
      for (int y = 0; y < TILE; ++y) {
        for (int x = 0; x < TILE; ++x) {
          sums[TILE * y + x] += g[i] * corner[STRIDE * (SIDE * y + x)][k];
        }
      }
    }
  }
  finish(sums, to->rows, to->columns, at, count, to);
}

static void direct(const float* const* pixels, size_t depth, const float* filter,
                   size_t plane_stride, size_t columns, const struct winograd_target* to) {
  for (size_t at = 0; at < to->channels; at += LANES) {
    const size_t left = to->channels - at;
    direct_channels(pixels, depth, filter, plane_stride, columns, at, left < LANES ? left : LANES,
                    to);
  }
}

const struct winograd_transforms NAME = {TILE,   STRIDE, SIDE,   PLANES, FILTER_PLANES,
                                         filter, input,  output, direct};
