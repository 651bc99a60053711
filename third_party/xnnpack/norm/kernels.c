/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels in vectors of LANES floats, under the name of NAME. Compiled for each set of
 * instructions, which defines these.
 */
#include "third_party/xnnpack/norm/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define IN_LINE static inline __attribute__((always_inline))
/* Vectors of a row in step, and of the channels of a pixel. */
#define VECTORS 4
#define BLOCK (VECTORS * LANES)
#define EACH(i) _Pragma("GCC unroll 4") for (int i = 0; i < VECTORS; ++i)

/* What is added up in floats: elements of a row, pixels of a lane. */
#define ROW_RUN 4096
#define PIXEL_RUN 256

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef int mask __attribute__((vector_size(LANES * sizeof(int))));
typedef float quad __attribute__((vector_size(4 * sizeof(float))));

IN_LINE vec all(float value) { return value - (vec){0}; }

IN_LINE vec load(const float* from) {
  vec v;
  memcpy(&v, from, sizeof(v));
  return v;
}

IN_LINE void store(float* to, vec v) { memcpy(to, &v, sizeof(v)); }

IN_LINE vec choose(mask m, vec a, vec b) { return (vec)((m & (mask)a) | (~m & (mask)b)); }

/* All bits of the lanes from `first` on. */
IN_LINE mask lanes_from(size_t first) {
  int numbers[LANES];
  for (int i = 0; i < LANES; ++i) numbers[i] = i;
  mask m;
  memcpy(&m, numbers, sizeof(m));
  return m >= ((int)first - (mask){0});
}

IN_LINE float add_lanes(vec v) {
  quad parts[LANES / 4];
  memcpy(parts, &v, sizeof(v));
  for (int half = LANES / 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
  }
  return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
}

/* What is added up of x: itself, or the square of what is left of it. */
IN_LINE vec term(vec x, vec center, bool is_square) {
  const vec rest = x - center;
  return is_square ? rest * rest : x;
}

/* `size` is LANES or more. */
IN_LINE double add_row(const float* row, size_t size, vec center, bool is_square) {
  double total = 0;
  size_t at = 0;
  while (at < size) {
    const size_t end = size - at < ROW_RUN ? size : at + ROW_RUN;
    vec sums[VECTORS] = {{0}};
    for (; at + BLOCK <= end; at += BLOCK) {
      EACH(i) sums[i] += term(load(row + at + i * LANES), center, is_square);
    }
    for (; at + LANES <= end; at += LANES) sums[0] += term(load(row + at), center, is_square);
    if (at < end) {
      /* The last vector, without the lanes that were in the one before. */
      const vec last = term(load(row + end - LANES), center, is_square);
      sums[1] += choose(lanes_from(LANES - (end - at)), last, (vec){0});
      at = end;
    }
    total += add_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return total;
}

IN_LINE vec normalised(vec x, vec center, vec factor, const float* weight, const float* bias,
                       size_t at) {
  vec y = (x - center) * factor;
  if (weight != NULL) y *= load(weight + at);
  if (bias != NULL) y += load(bias + at);
  return y;
}

IN_LINE void scale_row(const float* x, float* y, size_t size, vec center, vec factor,
                       const float* weight, const float* bias) {
  /* Before it is overwritten. */
  const vec last = normalised(load(x + size - LANES), center, factor, weight, bias, size - LANES);
  size_t at = 0;
  for (; at + LANES <= size; at += LANES) {
    store(y + at, normalised(load(x + at), center, factor, weight, bias, at));
  }
  if (at < size) store(y + size - LANES, last);
}

/* Rows that are gone over in turn, so that a sum of lanes or a root is not waited for: as many as
 * stay in the cache of the first level. */
#define MOST_ROWS 8
#define CACHED 4096

IN_LINE void normalise_rows(const float* x, float* y, size_t count, size_t size,
                            const float* weight, const float* bias, float epsilon) {
  const double part = 1.0 / (double)size;
  const size_t fitting = CACHED / size, most = fitting < MOST_ROWS ? fitting : MOST_ROWS;
  const size_t step = most > 0 ? most : 1;
  float centers[MOST_ROWS], factors[MOST_ROWS];
  for (size_t first = 0; first < count; first += step) {
    const size_t rows = count - first < step ? count - first : step;
    for (size_t i = 0; i < rows; ++i) {
      centers[i] = (float)(add_row(x + i * size, size, (vec){0}, false) * part);
    }
    for (size_t i = 0; i < rows; ++i) {
      const double variance = add_row(x + i * size, size, all(centers[i]), true) * part;
      factors[i] = (float)(1 / sqrt(variance + (double)epsilon));
    }
    for (size_t i = 0; i < rows; ++i) {
      scale_row(x + i * size, y + i * size, size, all(centers[i]), all(factors[i]), weight, bias);
    }
    x += rows * size;
    y += rows * size;
  }
}

/* Of fewer elements than a vector has. */
static void normalise_short_rows(const float* x, float* y, size_t count, size_t size,
                                 const float* weight, const float* bias, float epsilon) {
  for (size_t i = 0; i < count; ++i, x += size, y += size) {
    double sum = 0, squares = 0;
    for (size_t k = 0; k < size; ++k) sum += (double)x[k];
    const float center = (float)(sum / (double)size);
    for (size_t k = 0; k < size; ++k) {
      const double rest = (double)(x[k] - center);
      squares += rest * rest;
    }
    const float factor = (float)(1 / sqrt(squares / (double)size + (double)epsilon));
    for (size_t k = 0; k < size; ++k) {
      const float scaled = (x[k] - center) * factor * (weight == NULL ? 1 : weight[k]);
      y[k] = scaled + (bias == NULL ? 0 : bias[k]);
    }
  }
}

static void rows(const float* x, float* y, size_t count, size_t size, const float* weight,
                 const float* bias, float epsilon) {
  if (size < LANES) {
    normalise_short_rows(x, y, count, size, weight, bias, epsilon);
  } else if (weight != NULL && bias != NULL) {
    /* A copy of the code that need not ask for them. */
    normalise_rows(x, y, count, size, weight, bias, epsilon);
  } else {
    normalise_rows(x, y, count, size, weight, bias, epsilon);
  }
}

/* Up to BLOCK channels from `first` on, in vectors that begin at `at`: the last of a pixel overlaps
 * the one before, and its first `skipped` lanes are not of the block. */
struct block {
  size_t first, count;
  int vectors;
  size_t at[VECTORS], skipped[VECTORS];
};

/* Precondition: a pixel has LANES channels or more. */
static struct block block_at(size_t first, size_t channels) {
  struct block b = {first, channels - first < BLOCK ? channels - first : BLOCK, 0, {0}, {0}};
  for (size_t at = first; at < first + b.count; at += LANES, ++b.vectors) {
    const size_t left = channels - at;
    b.skipped[b.vectors] = left < LANES ? LANES - left : 0;
    b.at[b.vectors] = at - b.skipped[b.vectors];
  }
  return b;
}

/* A number of each group for each lane. */
static void spread(const struct block* b, size_t group_channels, const float* of_groups,
                   float* lanes) {
  for (int v = 0; v < b->vectors; ++v) {
    size_t group = b->at[v] / group_channels, left = group_channels - b->at[v] % group_channels;
    for (int i = 0; i < LANES; ++i) {
      lanes[v * LANES + i] = of_groups[group];
      if (--left > 0 || i + 1 == LANES) continue;
      ++group;
      left = group_channels;
    }
  }
}

static void gather(const struct block* b, size_t group_channels, const vec* sums,
                   double* of_groups) {
  float lanes[BLOCK];
  memcpy(lanes, sums, sizeof(lanes));
  for (int v = 0; v < b->vectors; ++v) {
    size_t at = b->at[v] + b->skipped[v];
    size_t group = at / group_channels, left = group_channels - at % group_channels;
    for (size_t i = b->skipped[v]; i < LANES; ++i) {
      of_groups[group] += (double)lanes[v * LANES + i];
      if (--left > 0) continue;
      ++group;
      left = group_channels;
    }
  }
}

IN_LINE void add_block(const struct norm_pixels* of, const float* x, const struct block* b,
                       int vectors, const float* centers, bool is_square, double* sums) {
  vec center[VECTORS] = {{0}};
  if (is_square) {
    float lanes[BLOCK];
    spread(b, of->group_channels, centers, lanes);
    for (int v = 0; v < vectors; ++v) center[v] = load(lanes + v * LANES);
  }
  for (size_t pixel = 0; pixel < of->pixels;) {
    const size_t end = of->pixels - pixel < PIXEL_RUN ? of->pixels : pixel + PIXEL_RUN;
    vec even[VECTORS] = {{0}}, odd[VECTORS] = {{0}};
    for (; pixel + 2 <= end; pixel += 2) {
      const float* from = x + pixel * of->channels;
      EACH(v) {
        if (v < vectors) even[v] += term(load(from + b->at[v]), center[v], is_square);
      }
      from += of->channels;
      EACH(v) {
        if (v < vectors) odd[v] += term(load(from + b->at[v]), center[v], is_square);
      }
    }
    if (pixel < end) {
      const float* from = x + pixel * of->channels;
      EACH(v) {
        if (v < vectors) even[v] += term(load(from + b->at[v]), center[v], is_square);
      }
      ++pixel;
    }
    EACH(v) even[v] += odd[v];
    gather(b, of->group_channels, even, sums);
  }
}

/* With the number of vectors as a constant. */
IN_LINE void add_any_block(const struct norm_pixels* of, const float* x, const struct block* b,
                           const float* centers, bool is_square, double* sums) {
  switch (b->vectors) {
    case 1:
      add_block(of, x, b, 1, centers, is_square, sums);
      break;
    case 2:
      add_block(of, x, b, 2, centers, is_square, sums);
      break;
    case 3:
      add_block(of, x, b, 3, centers, is_square, sums);
      break;
    default:
      add_block(of, x, b, VECTORS, centers, is_square, sums);
  }
}

static void add_few(const struct norm_pixels* of, const float* x, const float* centers,
                    double* sums) {
  for (size_t pixel = 0; pixel < of->pixels; ++pixel, x += of->channels) {
    for (size_t k = 0; k < of->channels; ++k) {
      const size_t group = k / of->group_channels;
      const float rest = centers == NULL ? x[k] : x[k] - centers[group];
      sums[group] += centers == NULL ? (double)rest : (double)rest * (double)rest;
    }
  }
}

static void add(const struct norm_pixels* of, const float* x, const float* centers, double* sums) {
  for (size_t g = 0; g < of->channels / of->group_channels; ++g) sums[g] = 0;
  if (of->channels < LANES) {
    add_few(of, x, centers, sums);
    return;
  }
  for (size_t first = 0; first < of->channels; first += BLOCK) {
    const struct block b = block_at(first, of->channels);
    if (centers == NULL) {
      add_any_block(of, x, &b, NULL, false, sums);
    } else {
      add_any_block(of, x, &b, centers, true, sums);
    }
  }
}

struct scale {
  vec center[VECTORS], factor[VECTORS], shift[VECTORS];
  mask is_new[VECTORS];
};

static struct scale scale_of(const struct norm_pixels* of, const struct block* b,
                             const float* centers, const float* factors, const float* weight,
                             const float* bias) {
  struct scale s;
  float lanes[BLOCK];
  spread(b, of->group_channels, centers, lanes);
  for (int v = 0; v < b->vectors; ++v) s.center[v] = load(lanes + v * LANES);
  spread(b, of->group_channels, factors, lanes);
  for (int v = 0; v < b->vectors; ++v) {
    const vec factor = load(lanes + v * LANES);
    s.factor[v] = weight == NULL ? factor : factor * load(weight + b->at[v]);
    s.shift[v] = bias == NULL ? (vec){0} : load(bias + b->at[v]);
    s.is_new[v] = lanes_from(b->skipped[v]);
  }
  return s;
}

IN_LINE void scale_block(const struct norm_pixels* of, const float* x, float* y,
                         const struct block* b, const struct scale* s, int vectors, bool overlaps) {
  for (size_t pixel = 0; pixel < of->pixels; ++pixel, x += of->channels, y += of->channels) {
    EACH(v) {
      if (v >= vectors) break;
      vec scaled = (load(x + b->at[v]) - s->center[v]) * s->factor[v] + s->shift[v];
      /* Where the output is the input, the other lanes are made already. */
      if (overlaps && v + 1 == vectors) {
        scaled = choose(s->is_new[v], scaled, load(y + b->at[v]));
      }
      store(y + b->at[v], scaled);
    }
  }
}

IN_LINE void scale_any_block(const struct norm_pixels* of, const float* x, float* y,
                             const struct block* b, const struct scale* s, bool overlaps) {
  switch (b->vectors) {
    case 1:
      scale_block(of, x, y, b, s, 1, overlaps);
      break;
    case 2:
      scale_block(of, x, y, b, s, 2, overlaps);
      break;
    case 3:
      scale_block(of, x, y, b, s, 3, overlaps);
      break;
    default:
      scale_block(of, x, y, b, s, VECTORS, overlaps);
  }
}

static void scale_few(const struct norm_pixels* of, const float* x, float* y, const float* centers,
                      const float* factors, const float* weight, const float* bias) {
  for (size_t pixel = 0; pixel < of->pixels; ++pixel, x += of->channels, y += of->channels) {
    for (size_t k = 0; k < of->channels; ++k) {
      const size_t group = k / of->group_channels;
      const float factor = factors[group] * (weight == NULL ? 1 : weight[k]);
      y[k] = (x[k] - centers[group]) * factor + (bias == NULL ? 0 : bias[k]);
    }
  }
}

static void scale(const struct norm_pixels* of, const float* x, float* y, const float* centers,
                  const float* factors, const float* weight, const float* bias) {
  if (of->channels < LANES) {
    scale_few(of, x, y, centers, factors, weight, bias);
    return;
  }
  for (size_t first = 0; first < of->channels; first += BLOCK) {
    const struct block b = block_at(first, of->channels);
    const struct scale s = scale_of(of, &b, centers, factors, weight, bias);
    if (b.skipped[b.vectors - 1] == 0) {
      scale_any_block(of, x, y, &b, &s, false);
    } else {
      scale_any_block(of, x, y, &b, &s, true);
    }
  }
}

const struct norm_kernels NAME = {LANES, rows, add, scale};
