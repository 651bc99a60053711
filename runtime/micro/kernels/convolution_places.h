/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* One output, whose window begins at `top` and `left`: the sum over channels, rows and columns of
 * the filter, in this order. */
static SUM_TYPE NAME_ONE(const IN_TYPE *in, const IN_TYPE *filter, int32_t top, int32_t left) {
  SUM_TYPE sum = (SUM_TYPE)0;
  for (int32_t c = 0; c < CHANNELS; ++c) {
    for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
      const int32_t h = top + r * DILATION_HEIGHT;
      if (h < 0 || h >= IN_HEIGHT) {
        continue;
      }
      for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
        const int32_t w = left + s * DILATION_WIDTH;
        if (w < 0 || w >= IN_WIDTH) {
          continue;
        }
        sum += LOAD_SUM(in[(c * IN_HEIGHT + h) * IN_WIDTH + w]) *
               LOAD_SUM(filter[(c * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
      }
    }
  }
  return sum;
}

/* One channel of the output, place by place. */
static void NAME_SINGLY(const IN_TYPE *in, const IN_TYPE *filter, SUM_TYPE start, OUT_TYPE *to) {
  for (int32_t i = 0; i < OUT_HEIGHT * OUT_WIDTH; ++i) {
    const int32_t top = i / OUT_WIDTH * STRIDE_HEIGHT - PADDING_TOP;
    const int32_t left = i % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
    to[i] = STORE_OUT(start + NAME_ONE(in, filter, top, left));
  }
}

#if PETREL_LANES > 1
/* What the columns of the filter meet, one after another, of each channel: the rows of the input
 * by the phase that they have in a step, `count` of each from `top` on, for each output of a row; 0
 * beside the input. */
static inline void NAME_LINES(const IN_TYPE *in, int32_t top, int32_t count, SUM_TYPE *lines) {
  enum {
    TALL = (KERNEL_HEIGHT - 1) * DILATION_HEIGHT,
    PHASES = TALL < STRIDE_HEIGHT ? TALL + 1 : STRIDE_HEIGHT,
    LENGTH = (OUT_WIDTH - 1) * STRIDE_WIDTH + (KERNEL_WIDTH - 1) * DILATION_WIDTH + 1,
    ROOM = LENGTH - PADDING_LEFT,
    INSIDE = ROOM < 0          ? 0
             : ROOM < IN_WIDTH ? ROOM
                               : IN_WIDTH
  };
  SUM_TYPE row[LENGTH] = {0};
  for (int32_t a = 0; a < CHANNELS * PHASES; ++a) {
    SUM_TYPE *line =
        lines + (a / PHASES * (KERNEL_WIDTH * PHASES) + a % PHASES) * count * OUT_WIDTH;
    const IN_TYPE *plane = in + a / PHASES * (IN_HEIGHT * IN_WIDTH);
    for (int32_t l = 0; l < count; ++l) {
      const int32_t h = top + l * STRIDE_HEIGHT + a % PHASES;
      const bool is_inside = h >= 0 && h < IN_HEIGHT;
      for (int32_t i = 0; is_inside && i < INSIDE; ++i) {
        row[PADDING_LEFT + i] = LOAD_SUM(plane[h * IN_WIDTH + i]);
      }
      for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
        SUM_TYPE *to = line + s * (PHASES * count * OUT_WIDTH);
        for (int32_t i = 0; i < OUT_WIDTH; ++i) {
          to[i] = is_inside ? row[i * STRIDE_WIDTH + s * DILATION_WIDTH] : (SUM_TYPE)0;
        }
      }
      line = &line[OUT_WIDTH];
    }
  }
}

/* Sums of places from number `n` on, counted from row `p`. One that is no number may be so by
 * padding, and is computed again. */
static inline void NAME_FINISH(const IN_TYPE *in, const IN_TYPE *filter, SUM_TYPE start,
                               const SUM_TYPE *sums, int32_t p, int32_t n, int32_t count,
                               OUT_TYPE *row) {
  int32_t odd = 0;
  for (int32_t i = 0; i < count; ++i) {
    odd |= sums[i] != sums[i];
    row[i] = STORE_OUT(start + sums[i]);
  }
  for (int32_t i = 0; odd != 0 && i < count; ++i) {
    const int32_t top = (p + (n + i) / OUT_WIDTH) * STRIDE_HEIGHT - PADDING_TOP;
    const int32_t left = (n + i) % OUT_WIDTH * STRIDE_WIDTH - PADDING_LEFT;
    if (sums[i] != sums[i]) {
      row[i] = STORE_OUT(start + NAME_ONE(in, filter, top, left));
    }
  }
}

/* How many vectors hold so many places, in tiles of some vectors. */
#define NAME_FULL(vectors, places) \
  (((places) + (vectors)*LANES - 1) / ((vectors)*LANES) * (vectors))
#endif

/* The same as convolution.h, for narrow outputs. In vectors, TILE filters, or twice as many, by
 * places that follow one another over the ends of rows are computed at once; what a column of the
 * filter meets is laid side by side before. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
#if PETREL_LANES > 1
  enum {
    FILTER = CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH,
    PER_GROUP = OUT_CHANNELS / GROUPS,
    TALL = (KERNEL_HEIGHT - 1) * DILATION_HEIGHT,
    PHASES = TALL < STRIDE_HEIGHT ? TALL + 1 : STRIDE_HEIGHT,
    MORE = TALL / STRIDE_HEIGHT, /* lines of a phase than there are rows of the output */
    MOST = PETREL_STACK_BYTES / (int)sizeof(SUM_TYPE) - PETREL_SUMS * LANES,
    FIT = MOST / OUT_WIDTH / PHASES / KERNEL_WIDTH / CHANNELS - MORE,
    ROWS = FIT < 0            ? 0
           : FIT < OUT_HEIGHT ? FIT
                              : OUT_HEIGHT,
    PITCH = (ROWS + MORE) * OUT_WIDTH,
    /* As many vectors as there are registers for, or one less where that wastes less. */
    WIDEST = PETREL_SUMS / TILE < 4 ? PETREL_SUMS / TILE : 4,
    NARROW = WIDEST > 2 ? WIDEST - 1 : 1,
    VECTORS = NAME_FULL(1, ROWS * OUT_WIDTH) <= 1                                          ? 1
              : NAME_FULL(WIDEST, ROWS * OUT_WIDTH) <= NAME_FULL(NARROW, ROWS * OUT_WIDTH) ? WIDEST
                                                                                           : NARROW,
    WIDE = VECTORS * LANES,
    FILTERS = TILE << (2 * TILE * VECTORS <= PETREL_SUMS && PER_GROUP % (2 * TILE) == 0),
    ALL = CHANNELS * KERNEL_WIDTH * PHASES * PITCH
  };
  SUM_TYPE lines[ROWS > 0 ? ALL + WIDE : WIDE]; /* the end is read behind places, and not used */
  (void)memset(lines + (ROWS > 0 ? ALL : 0), 0, WIDE * sizeof *lines);
#endif
  for (int32_t g = 0; g < BATCH * GROUPS; ++g) {
    const IN_TYPE *from = in + g * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const int32_t begin = g % GROUPS * (OUT_CHANNELS / GROUPS);
    OUT_TYPE *to = out + g * (OUT_CHANNELS / GROUPS * OUT_HEIGHT * OUT_WIDTH);
#if PETREL_LANES > 1
    for (int32_t p = 0; ROWS > 0 && p < OUT_HEIGHT; p += ROWS) {
      const int32_t places = (OUT_HEIGHT - p < ROWS ? OUT_HEIGHT - p : ROWS) * OUT_WIDTH;
      NAME_LINES(from, p * STRIDE_HEIGHT - PADDING_TOP, ROWS + MORE, lines);
      for (int32_t k = 0; k < PER_GROUP; k += FILTERS) {
        const IN_TYPE *filter = filters + (begin + k) * FILTER;
        for (int32_t n = 0; n < places; n += WIDE) {
          SUM_VECTOR sums[FILTERS][VECTORS] = {{{0}}};
          for (int32_t c = 0; c < CHANNELS; ++c) {
            for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
              const int32_t h = r * DILATION_HEIGHT;
              const SUM_TYPE *x = lines + (c * KERNEL_WIDTH * PHASES + h % STRIDE_HEIGHT) * PITCH +
                                  h / STRIDE_HEIGHT * OUT_WIDTH + n;
              const IN_TYPE *weight = filter + (c * KERNEL_HEIGHT + r) * KERNEL_WIDTH;
              for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
                PETREL_UNROLL
                for (int32_t v = 0; v < VECTORS; ++v) {
                  SUM_VECTOR value;
                  (void)memcpy(&value, x + s * (PHASES * PITCH) + v * LANES, sizeof value);
                  PETREL_UNROLL
                  for (int32_t t = 0; t < FILTERS; ++t) {
                    sums[t][v] = ADD_PRODUCT(sums[t][v], value, LOAD_SUM(weight[t * FILTER + s]));
                  }
                }
              }
            }
          }
          const int32_t count = places - n < WIDE ? places - n : WIDE;
          for (int32_t t = 0; t < FILTERS; ++t) {
            const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[begin + k + t]);
            OUT_TYPE *row = to + ((k + t) * OUT_HEIGHT + p) * OUT_WIDTH + n;
            SUM_TYPE tile[WIDE];
            (void)memcpy(tile, sums[t], sizeof tile);
            NAME_FINISH(from, filter + t * FILTER, start, tile, p, n, count, row);
          }
        }
      }
    }
    if (ROWS > 0) {
      continue;
    }
#endif
    for (int32_t k = 0; k < OUT_CHANNELS / GROUPS; ++k) {
      const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[begin + k]);
      const IN_TYPE *filter = filters + (begin + k) * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
      NAME_SINGLY(from, filter, start, to + k * (OUT_HEIGHT * OUT_WIDTH));
    }
  }
}
