/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

#include "runtime/micro/kernels/one_window.h"

#if PETREL_LANES > 1
#include "runtime/micro/kernels/odd_lanes.h"
#include "runtime/micro/kernels/some_lanes.h"
#include "runtime/micro/kernels/store_lanes.h"

#define NAME_FILTER (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH)
/* How many vectors hold all places, in tiles of some vectors. */
#define NAME_FULL(vectors) \
  ((OUT_HEIGHT * OUT_WIDTH + (vectors)*LANES - 1) / ((vectors)*LANES) * (vectors))
/* As many filters and vectors as there are registers for, in narrower tiles where those waste
 * less, as many filters as half of the stack has room for, and equally many in each turn. */
#define NAME_WIDEST (OUT_CHANNELS / GROUPS < 4 ? 4 : 2)
#define NAME_VECTORS (NAME_FULL(NAME_WIDEST) <= NAME_FULL(1) ? NAME_WIDEST : 1)
#define NAME_WIDE (NAME_VECTORS * LANES)
#define NAME_ROOM (PETREL_STACK_BYTES / 2 / (int)sizeof(SUM_TYPE) / NAME_FILTER)
#define NAME_MOST (PETREL_SUMS / NAME_VECTORS < NAME_ROOM ? PETREL_SUMS / NAME_VECTORS : NAME_ROOM)
#define NAME_TURNS \
  ((OUT_CHANNELS / GROUPS + (NAME_MOST < 1 ? 1 : NAME_MOST) - 1) / (NAME_MOST < 1 ? 1 : NAME_MOST))
#define NAME_TILE ((OUT_CHANNELS / GROUPS + NAME_TURNS - 1) / NAME_TURNS)
/* How far a window reaches down, in how many rows windows begin in turn, and how many lines of each
 * there are beside those of the rows of the output. */
#define NAME_TALL ((KERNEL_HEIGHT - 1) * DILATION_HEIGHT)
#define NAME_PHASES (NAME_TALL < STRIDE_HEIGHT ? NAME_TALL + 1 : STRIDE_HEIGHT)
#define NAME_MORE (NAME_TALL / STRIDE_HEIGHT)
/* An output of one row needs no line for each column of the filter, but one for each column that
 * windows begin at in turn, further on in which others begin. */
#define NAME_LONG ((KERNEL_WIDTH - 1) * DILATION_WIDTH)
#if OUT_HEIGHT == 1
#define NAME_LINED (NAME_LONG < STRIDE_WIDTH ? NAME_LONG + 1 : STRIDE_WIDTH)
#define NAME_LINE (OUT_WIDTH + NAME_LONG / STRIDE_WIDTH)
#define NAME_FIRST(s) (s)
#define NAME_AT(s)                                                  \
  ((s)*DILATION_WIDTH % STRIDE_WIDTH * (NAME_PHASES * NAME_PITCH) + \
   (s)*DILATION_WIDTH / STRIDE_WIDTH)
#else
#define NAME_LINED KERNEL_WIDTH
#define NAME_LINE OUT_WIDTH
#define NAME_FIRST(s) ((s)*DILATION_WIDTH)
#define NAME_AT(s) ((s) * (NAME_PHASES * NAME_PITCH))
#endif
/* Rows of the output whose lines fit beside the weights of a tile. */
#define NAME_SPARE                                          \
  (PETREL_STACK_BYTES / (int)sizeof(SUM_TYPE) - NAME_WIDE - \
   (IN_IS_SUM ? 0 : NAME_TILE * NAME_FILTER))
#define NAME_FIT (NAME_SPARE / NAME_LINE / NAME_PHASES / NAME_LINED / CHANNELS - NAME_MORE)
#define NAME_ROWS \
  (NAME_MOST < 1 || NAME_FIT < 0 ? 0 : NAME_FIT < OUT_HEIGHT ? NAME_FIT : OUT_HEIGHT)
#define NAME_PITCH ((NAME_ROWS + NAME_MORE) * NAME_LINE)

/* What the columns of the filter meet, one after another, of each channel: the rows of the input
 * from `top` on, by the phase that they have in a step, for each output of a row; 0 beside the
 * input. */
static inline void NAME_LINES(const IN_TYPE *in, int32_t top, SUM_TYPE *lines) {
  enum {
    LENGTH = (NAME_LINE - 1) * STRIDE_WIDTH + NAME_FIRST(NAME_LINED - 1) + 1,
    ROOM = LENGTH - PADDING_LEFT,
    INSIDE = ROOM < 0          ? 0
             : ROOM < IN_WIDTH ? ROOM
                               : IN_WIDTH
  };
  SUM_TYPE row[LENGTH] = {0};
  for (int32_t a = 0; a < CHANNELS * NAME_PHASES; ++a) {
    SUM_TYPE *line =
        lines + (a / NAME_PHASES * (NAME_LINED * NAME_PHASES) + a % NAME_PHASES) * NAME_PITCH;
    const IN_TYPE *plane = in + a / NAME_PHASES * (IN_HEIGHT * IN_WIDTH);
    for (int32_t l = 0; l < NAME_ROWS + NAME_MORE; ++l) {
      const int32_t h = top + l * STRIDE_HEIGHT + a % NAME_PHASES;
      const bool is_inside = h >= 0 && h < IN_HEIGHT;
      for (int32_t i = 0; is_inside && i < INSIDE; ++i) {
        row[PADDING_LEFT + i] = LOAD_SUM(plane[h * IN_WIDTH + i]);
      }
      for (int32_t s = 0; s < NAME_LINED; ++s) {
        SUM_TYPE *to = line + s * (NAME_PHASES * NAME_PITCH);
        if (is_inside && STRIDE_WIDTH == 1 && OUT_WIDTH >= LANES) {
          (void)memcpy(to, row + NAME_FIRST(s), NAME_LINE * sizeof *to);
          continue;
        }
        for (int32_t i = 0; i < NAME_LINE; ++i) {
          to[i] = is_inside ? row[i * STRIDE_WIDTH + NAME_FIRST(s)] : (SUM_TYPE)0;
        }
      }
      line = &line[NAME_LINE];
    }
  }
}

/* A tile of the output: some filters by a few vectors of places. What is no number makes `odd`
 * so. */
static inline SUM_VECTOR NAME_SUMS(const SUM_TYPE *lines, const SUM_TYPE *weights,
                                   const IN_TYPE *bias, SUM_VECTOR odd, OUT_TYPE *out) {
  const SUM_VECTOR zero = {0};
  SUM_VECTOR sums[NAME_TILE][NAME_VECTORS];
  PETREL_UNROLL
  for (int32_t t = 0; t < NAME_TILE; ++t) {
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      sums[t][v] = zero;
    }
  }
  for (int32_t i = 0; i < CHANNELS * KERNEL_HEIGHT; ++i) {
    const int32_t c = i / KERNEL_HEIGHT;
    const int32_t h = i % KERNEL_HEIGHT * DILATION_HEIGHT;
    const SUM_TYPE *x = lines + (c * NAME_LINED * NAME_PHASES + h % STRIDE_HEIGHT) * NAME_PITCH +
                        h / STRIDE_HEIGHT * NAME_LINE;
    PETREL_UNROLL
    for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
      SUM_VECTOR values[NAME_VECTORS];
      PETREL_UNROLL
      for (int32_t v = 0; v < NAME_VECTORS; ++v) {
        (void)memcpy(&values[v], x + NAME_AT(s) + v * LANES, sizeof values[v]);
        PETREL_KEEP(values[v]);
      }
      PETREL_UNROLL
      for (int32_t t = 0; t < NAME_TILE; ++t) {
        const SUM_TYPE weight = weights[t * NAME_FILTER + i * KERNEL_WIDTH + s];
        PETREL_UNROLL
        for (int32_t v = 0; v < NAME_VECTORS; ++v) {
          sums[t][v] = ADD_PRODUCT(sums[t][v], values[v], weight);
        }
      }
    }
  }
  PETREL_UNROLL
  for (int32_t t = 0; t < NAME_TILE; ++t) {
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[t]);
    OUT_TYPE *to = out + t * (OUT_HEIGHT * OUT_WIDTH);
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      odd += sums[t][v] - sums[t][v];
      if (NAME_ROWS * OUT_WIDTH < NAME_WIDE) {
        NAME_STORE_SOME(start + sums[t][v], NAME_ROWS * OUT_WIDTH - v * LANES, to + v * LANES);
      } else {
        NAME_STORE(start + sums[t][v], to + v * LANES);
      }
    }
  }
  return odd;
}
#endif

/* The same as convolution.h, for narrow outputs. In vectors, some filters by places that follow one
 * another over the ends of rows are computed at once; what a column of the filter meets is laid
 * side by side before. Of rows, filters and places that are no multiple the last ones are computed
 * twice. Padding changes no sum but where a filter has what is not finite; such a sum is a NaN,
 * and all of its group are computed again. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
  const int32_t size = CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH;
#if PETREL_LANES > 1
  enum { ALL = CHANNELS * NAME_LINED * NAME_PHASES * NAME_PITCH };
  SUM_TYPE lines[NAME_ROWS > 0 ? ALL + NAME_WIDE : NAME_WIDE]; /* the end is read, and not used */
  (void)memset(lines + (NAME_ROWS > 0 ? ALL : 0), 0, NAME_WIDE * sizeof *lines);
#endif
  for (int32_t g = 0; g < BATCH * GROUPS; ++g) {
    const IN_TYPE *from = in + g * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const int32_t begin = g % GROUPS * per_group;
    OUT_TYPE *to = out + g * (per_group * places);
#if PETREL_LANES > 1
    SUM_VECTOR odd = {0};
    for (int32_t m = 0; NAME_ROWS > 0 && m < OUT_HEIGHT; m += NAME_ROWS) {
      const int32_t p = m + NAME_ROWS <= OUT_HEIGHT ? m : OUT_HEIGHT - NAME_ROWS;
      NAME_LINES(from, p * STRIDE_HEIGHT - PADDING_TOP, lines);
      for (int32_t k = 0; k < per_group; k += NAME_TILE) {
        const int32_t first = k + NAME_TILE <= per_group ? k : per_group - NAME_TILE;
        const IN_TYPE *filter = filters + (begin + first) * size;
#if IN_IS_SUM
        const SUM_TYPE *weights = filter;
#else
        SUM_TYPE weights[NAME_TILE * NAME_FILTER];
        for (int32_t i = 0; i < NAME_TILE * NAME_FILTER; ++i) {
          weights[i] = LOAD_SUM(filter[i]);
        }
#endif
        for (int32_t n = 0; n < NAME_ROWS * OUT_WIDTH; n += NAME_WIDE) {
          const int32_t last = NAME_ROWS * OUT_WIDTH - NAME_WIDE;
          const int32_t place = n <= last || n == 0 ? n : last;
          odd = NAME_SUMS(lines + place, weights, bias == NULL ? NULL : &bias[begin + first], odd,
                          to + first * places + p * OUT_WIDTH + place);
        }
      }
    }
    if (NAME_ROWS > 0 && !(PADDING_TOP + PADDING_LEFT > 0 && NAME_IS_ODD(odd))) {
      continue;
    }
#endif
    for (int32_t k = 0; k < per_group; ++k) {
      const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[begin + k]);
      NAME_SINGLY(from, filters + (begin + k) * size, start, to + k * places);
    }
  }
}
