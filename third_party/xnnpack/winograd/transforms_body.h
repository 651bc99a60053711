/* SPDX-License-Identifier: Apache-2.0
 *
 * The transforms in vectors of LANES floats. Included by a file for each set of instructions,
 * which defines LANES and NAME.
 */
#include <string.h>

#include "third_party/xnnpack/winograd/transforms.h"

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef int mask __attribute__((vector_size(LANES * sizeof(int))));

/* `count` floats, LANES at most; the others are 0. */
static inline __attribute__((always_inline)) vec load(const float* from, size_t count) {
  vec v = {0};
  if (count == LANES) {
    memcpy(&v, from, sizeof(v));
  } else {
    memcpy(&v, from, count * sizeof(float));
  }
  return v;
}

static inline __attribute__((always_inline)) void store(float* to, vec v, size_t count) {
  if (count == LANES) {
    memcpy(to, &v, sizeof(v));
  } else {
    memcpy(to, &v, count * sizeof(float));
  }
}

static inline __attribute__((always_inline)) vec choose(mask m, vec a, vec b) {
  return (vec)((m & (mask)a) | (~m & (mask)b));
}

/* NaN stays NaN. */
static inline __attribute__((always_inline)) vec clamp(vec y, vec low, vec high) {
  y = choose(low > y, low, y);
  return choose(high < y, high, y);
}

/* Of `size` channels in whole vectors: the last one overlaps the one before, and comes to the
 * same. */
static inline size_t next(size_t at, size_t size) {
  const size_t after = at + LANES;
  return after + LANES <= size || after >= size ? after : size - LANES;
}

/* G g G', of `count` outputs. */
static inline __attribute__((always_inline)) void filter_columns(const float* taps, size_t columns,
                                                                 size_t at, size_t count, float* u,
                                                                 size_t plane_stride) {
  vec h[12];
  for (int x = 0; x < 3; ++x) {
    const vec g0 = load(taps + (size_t)x * columns + at, count);
    const vec g1 = load(taps + (size_t)(3 + x) * columns + at, count);
    const vec g2 = load(taps + (size_t)(6 + x) * columns + at, count);
    h[x] = g0;
    h[3 + x] = 0.5f * ((g0 + g2) + g1);
    h[6 + x] = 0.5f * ((g0 + g2) - g1);
    h[9 + x] = g2;
  }
  for (int y = 0; y < 4; ++y) {
    const vec* row = h + 3 * y;
    float* to = u + (size_t)(4 * y) * plane_stride + at;
    store(to, row[0], count);
    store(to + plane_stride, 0.5f * ((row[0] + row[2]) + row[1]), count);
    store(to + 2 * plane_stride, 0.5f * ((row[0] + row[2]) - row[1]), count);
    store(to + 3 * plane_stride, row[2], count);
  }
}

static void filter(const float* taps, size_t columns, float* u, size_t plane_stride) {
  size_t at = 0;
  for (; at + LANES <= columns; at += LANES) {
    filter_columns(taps, columns, at, LANES, u, plane_stride);
  }
  if (at < columns) filter_columns(taps, columns, at, columns - at, u, plane_stride);
}

/* B' d B, of `count` channels. */
static inline __attribute__((always_inline)) void input_channels(const float* const* pixels,
                                                                 size_t at, size_t count, float* v,
                                                                 size_t plane_stride) {
  vec t[WINOGRAD_PLANES];
  for (int x = 0; x < 4; ++x) {
    const vec d0 = load(pixels[x] + at, count);
    const vec d1 = load(pixels[4 + x] + at, count);
    const vec d2 = load(pixels[8 + x] + at, count);
    const vec d3 = load(pixels[12 + x] + at, count);
    t[x] = d0 - d2;
    t[4 + x] = d1 + d2;
    t[8 + x] = d2 - d1;
    t[12 + x] = d1 - d3;
  }
  for (int y = 0; y < 4; ++y) {
    const vec* row = t + 4 * y;
    float* to = v + (size_t)(4 * y) * plane_stride + at;
    store(to, row[0] - row[2], count);
    store(to + plane_stride, row[1] + row[2], count);
    store(to + 2 * plane_stride, row[2] - row[1], count);
    store(to + 3 * plane_stride, row[1] - row[3], count);
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

/* Adds the bias, and stores what lies in the plane. What it returns has a NaN where a result is
 * not finite. */
static inline __attribute__((always_inline)) vec finish(const vec* y, size_t at, size_t count,
                                                        const struct winograd_target* to) {
  const vec bias = load(to->bias + at, count);
  const vec low = (vec){0} + to->low;
  const vec high = (vec){0} + to->high;
  vec spoiled = {0};
  for (size_t row = 0; row < to->rows; ++row) {
    for (size_t column = 0; column < to->columns; ++column) {
      const vec sum = y[2 * row + column] + bias;
      spoiled += sum * 0.0f;
      store(to->output + row * to->row_stride + column * to->column_stride + at,
            clamp(sum, low, high), count);
    }
  }
  return spoiled;
}

/* A' m A, of `count` channels. */
static inline __attribute__((always_inline)) vec output_channels(const float* m, size_t at,
                                                                 size_t count, size_t plane_stride,
                                                                 const struct winograd_target* to) {
  vec s[8];
  for (int x = 0; x < 4; ++x) {
    const float* from = m + (size_t)x * plane_stride + at;
    const vec m0 = load(from, count);
    const vec m1 = load(from + 4 * plane_stride, count);
    const vec m2 = load(from + 8 * plane_stride, count);
    const vec m3 = load(from + 12 * plane_stride, count);
    s[x] = m0 + m1 + m2;
    s[4 + x] = m1 - m2 - m3;
  }
  const vec y[4] = {s[0] + s[1] + s[2], s[1] - s[2] - s[3], s[4] + s[5] + s[6], s[5] - s[6] - s[7]};
  return finish(y, at, count, to);
}

static inline __attribute__((always_inline)) bool is_zero(vec v) {
  float sum = 0;
  for (int i = 0; i < LANES; ++i) sum += v[i];
  return sum == 0;
}

static bool output(const float* m, size_t plane_stride, const struct winograd_target* to) {
  if (to->channels < LANES) return is_zero(output_channels(m, 0, to->channels, plane_stride, to));
  vec spoiled = {0};
  for (size_t at = 0; at < to->channels; at = next(at, to->channels)) {
    spoiled += output_channels(m, at, LANES, plane_stride, to);
  }
  return is_zero(spoiled);
}

/* The filter that a column of the planes was made of: the inverse of G g G'. Corners are exact; of
 * the others, what may be a rounded 0 is taken for one, since 0 times infinity is not a number. */
static inline __attribute__((always_inline)) void filter_of(const vec* u, vec* g) {
  const float rounding = 0x1p-21f;
  vec h[12];
  vec largest = {0};
  for (int p = 0; p < WINOGRAD_PLANES; ++p) {
    const vec size = choose(u[p] < 0, -u[p], u[p]);
    largest = choose(size > largest, size, largest);
  }
  for (int x = 0; x < 4; ++x) {
    h[x] = u[x];
    h[4 + x] = u[4 + x] - u[8 + x];
    h[8 + x] = u[12 + x];
  }
  for (int y = 0; y < 3; ++y) {
    g[3 * y] = h[4 * y];
    g[3 * y + 1] = h[4 * y + 1] - h[4 * y + 2];
    g[3 * y + 2] = h[4 * y + 3];
  }
  const vec zero = {0};
  const vec bound = largest * rounding;
  for (int i = 1; i < 9; ++i) {
    if (i == 2 || i == 6 || i == 8) continue;
    g[i] = choose((g[i] < bound) & (g[i] > -bound), zero, g[i]);
  }
}

static inline __attribute__((always_inline)) void direct_channels(
    const float* const* pixels, size_t depth, const float* u, size_t plane_stride, size_t columns,
    size_t at, size_t count, const struct winograd_target* to) {
  vec y[4] = {{0}};
  for (size_t k = 0; k < depth; ++k) {
    vec planes[WINOGRAD_PLANES];
    vec g[9];
    for (size_t p = 0; p < WINOGRAD_PLANES; ++p) {
      planes[p] = load(u + p * plane_stride + k * columns + at, count);
    }
    filter_of(planes, g);
    for (int i = 0; i < 9; ++i) {
      const float* const* corner = pixels + 4 * (i / 3) + i % 3;
      y[0] += g[i] * corner[0][k];
      y[1] += g[i] * corner[1][k];
      y[2] += g[i] * corner[4][k];
      y[3] += g[i] * corner[5][k];
    }
  }
  finish(y, at, count, to);
}

static void direct(const float* const* pixels, size_t depth, const float* u, size_t plane_stride,
                   size_t columns, const struct winograd_target* to) {
  size_t at = 0;
  for (; at + LANES <= to->channels; at += LANES) {
    direct_channels(pixels, depth, u, plane_stride, columns, at, LANES, to);
  }
  if (at < to->channels) {
    direct_channels(pixels, depth, u, plane_stride, columns, at, to->channels - at, to);
  }
}

const struct winograd_transforms NAME = {filter, input, output, direct};
