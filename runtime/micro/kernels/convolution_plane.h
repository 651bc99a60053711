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

#if PETREL_LANES > 1
/* Every STRIDE_WIDTH-th element of a row from `left` on, 0 beside it. */
static inline void NAME_LINE(const IN_TYPE *row, int32_t left, int32_t count, SUM_TYPE *line) {
  const int32_t rest = IN_WIDTH - left;
  const int32_t inside = rest <= 0 ? 0 : (rest - 1) / STRIDE_WIDTH + 1;
  const int32_t end = inside < count ? inside : count;
  int32_t i = 0;
  for (; i < count && left + i * STRIDE_WIDTH < 0; ++i) {
    line[i] = (SUM_TYPE)0;
  }
  for (; i < end; ++i) {
    line[i] = LOAD_SUM(row[left + i * STRIDE_WIDTH]);
  }
  for (; i < count; ++i) {
    line[i] = (SUM_TYPE)0;
  }
}

/* A part of an input plane, taken apart: phase by phase `lines` lines of `pitch` elements. Of
 * `keeps_borders` what is beside the input is 0 already; lines are whole then, and not taken
 * apart. */
static inline void NAME_PLANE(const IN_TYPE *in, int32_t top, int32_t left, int32_t lines,
                              int32_t pitch, bool keeps_borders, SUM_TYPE *plane) {
  SUM_TYPE *line = plane;
  enum {
    TALL = (KERNEL_HEIGHT - 1) * DILATION_HEIGHT,
    LONG = (KERNEL_WIDTH - 1) * DILATION_WIDTH,
    ROW_PHASES = TALL < STRIDE_HEIGHT ? TALL + 1 : STRIDE_HEIGHT,
    COLUMN_PHASES = LONG < STRIDE_WIDTH ? LONG + 1 : STRIDE_WIDTH,
    ROOM = OUT_WIDTH + LONG - PADDING_LEFT,
    INSIDE = ROOM < 0          ? 0
             : ROOM < IN_WIDTH ? ROOM
                               : IN_WIDTH
  };
  for (int32_t a = 0; a < ROW_PHASES * COLUMN_PHASES; ++a) {
    for (int32_t l = 0; l < lines; ++l) {
      const int32_t h = top + l * STRIDE_HEIGHT + a / COLUMN_PHASES;
      if (keeps_borders) {
        for (int32_t i = 0; h >= 0 && h < IN_HEIGHT && i < INSIDE; ++i) {
          line[PADDING_LEFT + i] = LOAD_SUM(in[h * IN_WIDTH + i]);
        }
      } else if (h < 0 || h >= IN_HEIGHT) {
        for (int32_t i = 0; i < pitch; ++i) {
          line[i] = (SUM_TYPE)0;
        }
      } else {
        NAME_LINE(in + h * IN_WIDTH, left + a % COLUMN_PHASES, pitch, line);
      }
      line = &line[pitch];
    }
  }
  for (int32_t i = 0; !keeps_borders && i < 4 * LANES; ++i) {
    line[i] = (SUM_TYPE)0;
  }
}

/* Adds what `count` outputs get from such a part and one channel of a filter. A function of its
 * own: where gcc 12 puts it into its caller, with -O3 for AVX-512, sums are wrong. */
__attribute__((noinline)) static void NAME_SUMS(const SUM_TYPE *plane, const SUM_TYPE *weights,
                                                int32_t lines, int32_t count, SUM_TYPE *sums) {
  enum { LONG = (KERNEL_WIDTH - 1) * DILATION_WIDTH, VECTORS = 4 };
  enum { COLUMN_PHASES = LONG < STRIDE_WIDTH ? LONG + 1 : STRIDE_WIDTH };
  enum { PITCH = (OUT_WIDTH < 256 ? OUT_WIDTH : 256) + LONG / STRIDE_WIDTH };
  for (int32_t n = 0; n < count; n += VECTORS * LANES) {
    SUM_VECTOR lanes[VECTORS];
    /* One by one: an array that is copied as a whole stays in memory. */
    PETREL_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) {
      (void)memcpy(&lanes[v], sums + n + v * LANES, sizeof lanes[v]);
    }
    for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
      const int32_t h = r * DILATION_HEIGHT;
      const int32_t line = h % STRIDE_HEIGHT * COLUMN_PHASES * lines + h / STRIDE_HEIGHT;
      PETREL_UNROLL
      for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
        const int32_t w = s * DILATION_WIDTH;
        const SUM_TYPE *x =
            plane + n + (line + w % STRIDE_WIDTH * lines) * PITCH + w / STRIDE_WIDTH;
        PETREL_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) {
          SUM_VECTOR value;
          (void)memcpy(&value, x + v * LANES, sizeof value);
          lanes[v] = ADD_PRODUCT(lanes[v], value, weights[r * KERNEL_WIDTH + s]);
        }
      }
    }
    PETREL_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) {
      (void)memcpy(sums + n + v * LANES, &lanes[v], sizeof lanes[v]);
    }
  }
}

/* Sums of rows of windows, the first at `top` and `left`. One that is no number may be so by
 * padding, and is computed again. */
static inline void NAME_FINISH(const IN_TYPE *in, const IN_TYPE *filter, SUM_TYPE start,
                               const SUM_TYPE *sums, int32_t rows, int32_t columns, int32_t top,
                               int32_t left, OUT_TYPE *to) {
  enum { LONG = (KERNEL_WIDTH - 1) * DILATION_WIDTH };
  enum { PITCH = (OUT_WIDTH < 256 ? OUT_WIDTH : 256) + LONG / STRIDE_WIDTH };
  int32_t odd = 0;
  for (int32_t r = 0; r < rows; ++r) {
    for (int32_t i = 0; i < columns; ++i) {
      const SUM_TYPE sum = sums[r * PITCH + i];
      odd |= sum != sum;
      to[r * OUT_WIDTH + i] = STORE_OUT(start + sum);
    }
  }
  for (int32_t r = 0; odd != 0 && r < rows; ++r) {
    for (int32_t i = 0; i < columns; ++i) {
      if (sums[r * PITCH + i] != sums[r * PITCH + i]) {
        to[r * OUT_WIDTH + i] = STORE_OUT(
            start + NAME_ONE(in, filter, top + r * STRIDE_HEIGHT, left + i * STRIDE_WIDTH));
      }
    }
  }
}
#endif

/* The same as convolution.h, for filters that share no input. In vectors, sums of several rows of
 * the output run side by side, of a plane that is padded with 0 and, where windows are apart, taken
 * apart: by the rows, then the columns, that they begin at. So one element of a filter meets
 * neighbours in memory, whatever the width; what would be behind the end of a row is not used. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
#if PETREL_LANES > 1
  enum {
    TALL = (KERNEL_HEIGHT - 1) * DILATION_HEIGHT,
    LONG = (KERNEL_WIDTH - 1) * DILATION_WIDTH,
    ROW_PHASES = TALL < STRIDE_HEIGHT ? TALL + 1 : STRIDE_HEIGHT,
    COLUMN_PHASES = LONG < STRIDE_WIDTH ? LONG + 1 : STRIDE_WIDTH,
    PHASES = ROW_PHASES * COLUMN_PHASES,
    COLUMNS = OUT_WIDTH < 256 ? OUT_WIDTH : 256,
    PITCH = COLUMNS + LONG / STRIDE_WIDTH,
    WIDE = 4 * LANES,
    WINDOW = KERNEL_HEIGHT * KERNEL_WIDTH,
    /* What stays in the nearest cache. */
    BYTES = PETREL_STACK_BYTES < 32768 ? PETREL_STACK_BYTES : 32768,
    MOST = BYTES / (int)sizeof(SUM_TYPE) - 2 * WIDE - WINDOW,
    LINES = MOST / PITCH / (PHASES + 1),
    FIT = LINES - TALL / STRIDE_HEIGHT,
    ROWS = FIT < 0            ? 0
           : FIT < OUT_HEIGHT ? FIT
                              : OUT_HEIGHT,
    /* All planes are padded at the same places. */
    KEEPS_BORDERS = STRIDE_WIDTH == 1 && ROWS == OUT_HEIGHT && COLUMNS == OUT_WIDTH
  };
  SUM_TYPE plane[ROWS > 0 ? PHASES * (ROWS + TALL / STRIDE_HEIGHT) * PITCH + WIDE : 1];
  SUM_TYPE sums[ROWS > 0 ? ROWS * PITCH + WIDE : 1];
  SUM_TYPE weights[ROWS > 0 ? WINDOW : 1];
  if (KEEPS_BORDERS) {
    (void)memset(plane, 0, sizeof plane);
  }
#endif
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const IN_TYPE *from = in + k / per_group * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const IN_TYPE *filter = filters + k % OUT_CHANNELS * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    OUT_TYPE *to = out + k * (OUT_HEIGHT * OUT_WIDTH);
#if PETREL_LANES > 1
    for (int32_t p = 0; ROWS > 0 && p < OUT_HEIGHT; p += ROWS) {
      const int32_t rows = ROWS == OUT_HEIGHT || OUT_HEIGHT - p > ROWS ? ROWS : OUT_HEIGHT - p;
      const int32_t lines = rows + TALL / STRIDE_HEIGHT;
      const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
      for (int32_t q = 0; q < OUT_WIDTH; q += COLUMNS) {
        const int32_t columns =
            COLUMNS == OUT_WIDTH || OUT_WIDTH - q > COLUMNS ? COLUMNS : OUT_WIDTH - q;
        const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
        (void)memset(sums, 0, sizeof sums);
        for (int32_t c = 0; c < CHANNELS; ++c) {
          for (int32_t i = 0; i < WINDOW; ++i) {
            weights[i] = LOAD_SUM(filter[c * WINDOW + i]);
          }
          NAME_PLANE(from + c * (IN_HEIGHT * IN_WIDTH), top, left, lines, PITCH, KEEPS_BORDERS,
                     plane);
          NAME_SUMS(plane, weights, lines, (rows - 1) * PITCH + columns, sums);
        }
        NAME_FINISH(from, filter, start, sums, rows, columns, top, left, to + p * OUT_WIDTH + q);
      }
    }
    if (ROWS > 0) {
      continue;
    }
#endif
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      for (int32_t q = 0; q < OUT_WIDTH; ++q) {
        to[p * OUT_WIDTH + q] =
            STORE_OUT(start + NAME_ONE(from, filter, p * STRIDE_HEIGHT - PADDING_TOP,
                                       q * STRIDE_WIDTH - PADDING_LEFT));
      }
    }
  }
}
