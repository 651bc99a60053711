/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* One output, whose window begins at `top` and `left`: the sum over channels, rows and columns of
 * the filter, in this order. */
static SUM_TYPE NAME_ONE(const IN_TYPE *in, const IN_TYPE *filter, int32_t height, int32_t width,
                         int32_t top, int32_t left) {
  SUM_TYPE sum = (SUM_TYPE)0;
  for (int32_t c = 0; c < CHANNELS; ++c) {
    for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
      const int32_t h = top + r * DILATION_HEIGHT;
      if (h < 0 || h >= height) {
        continue;
      }
      for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
        const int32_t w = left + s * DILATION_WIDTH;
        if (w < 0 || w >= width) {
          continue;
        }
        sum += LOAD_SUM(in[(c * height + h) * width + w]) *
               LOAD_SUM(filter[(c * KERNEL_HEIGHT + r) * KERNEL_WIDTH + s]);
      }
    }
  }
  return sum;
}

/* The outputs of one group in a row, one after another; their channels are `plane` apart. */
static void NAME_SINGLY(const IN_TYPE *from, const IN_TYPE *filters, const IN_TYPE *bias,
                        int32_t height, int32_t width, int32_t top, int32_t columns, int32_t plane,
                        OUT_TYPE *to) {
  for (int32_t k = 0; k < OUT_CHANNELS / GROUPS; ++k) {
    const IN_TYPE *filter = filters + k * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
    for (int32_t q = 0; q < columns; ++q) {
      const SUM_TYPE sum =
          NAME_ONE(from, filter, height, width, top, q * STRIDE_WIDTH - PADDING_LEFT);
      const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k]);
      to[k * plane + q] = STORE_OUT(start + sum);
    }
  }
}

#if PETREL_LANES > 1
/* What the columns of the filter meet in one row of the input, for outputs side by side; 0 beside
 * the row. */
static inline void NAME_ROW(const IN_TYPE *in, int32_t width, int32_t left, SUM_TYPE *row) {
  enum { VECTORS = MOST_WIDTH > LANES ? 2 : 1 };
  enum { WIDE = VECTORS * LANES, LENGTH = WIDE + (KERNEL_WIDTH - 1) * DILATION_WIDTH };
  if (STRIDE_WIDTH > 1) {
    for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
      for (int32_t i = 0; i < WIDE; ++i) {
        const int32_t w = left + i * STRIDE_WIDTH + s * DILATION_WIDTH;
        row[s * WIDE + i] = w < 0 || w >= width ? (SUM_TYPE)0 : LOAD_SUM(in[w]);
      }
    }
  } else if (left >= 0 && left + LENGTH <= width) {
    for (int32_t i = 0; i < LENGTH; ++i) {
      row[i] = LOAD_SUM(in[left + i]);
    }
  } else {
    for (int32_t i = 0; i < LENGTH; ++i) {
      const int32_t w = left + i;
      row[i] = w < 0 || w >= width ? (SUM_TYPE)0 : LOAD_SUM(in[w]);
    }
  }
}

/* Rows `first` to `last` of the windows of channels `part` to `end`, `pitch` elements each. */
static inline void NAME_ROWS(const IN_TYPE *in, int32_t height, int32_t width, int32_t part,
                             int32_t end, int32_t top, int32_t first, int32_t last, int32_t left,
                             int32_t pitch, SUM_TYPE *row) {
  for (int32_t c = part; c < end; ++c) {
    const IN_TYPE *plane = in + c * (height * width);
    for (int32_t r = first; r < last; ++r) {
      NAME_ROW(plane + (top + r * DILATION_HEIGHT) * width, width, left, row);
      row = &row[pitch];
    }
  }
}

/* Sums of outputs in a row, of the first window at `top` and `left`. One that is no number may be
 * so by padding, and is computed again. */
static inline void NAME_FINISH(const IN_TYPE *in, const IN_TYPE *filter, SUM_TYPE start,
                               const SUM_TYPE *sums, int32_t height, int32_t width, int32_t top,
                               int32_t left, int32_t count, OUT_TYPE *row) {
  int32_t odd = 0;
  for (int32_t i = 0; i < count; ++i) {
    odd |= sums[i] != sums[i];
    row[i] = STORE_OUT(start + sums[i]);
  }
  for (int32_t i = 0; odd != 0 && i < count; ++i) {
    if (sums[i] != sums[i]) {
      row[i] = STORE_OUT(start + NAME_ONE(in, filter, height, width, top, left + i * STRIDE_WIDTH));
    }
  }
}

/* How many rows of a window that begins at `top` lie above `end`. */
static int32_t NAME_ABOVE(int32_t top, int32_t end) {
  int32_t rows = 0;
  while (rows < KERNEL_HEIGHT && top + rows * DILATION_HEIGHT < end) {
    ++rows;
  }
  return rows;
}
#endif

/* in [BATCH, GROUPS * CHANNELS, IN_HEIGHT, IN_WIDTH], filters [OUT_CHANNELS, CHANNELS,
 * KERNEL_HEIGHT, KERNEL_WIDTH]: each output is its sum added to its bias. In vectors, TILE filters
 * by a few columns are computed at once, twice as many where there are registers for them, of rows
 * that are padded with 0: of as many channels as the stack may have, and output by output where it
 * may have none. Padding changes no sum but where a filter has what is not finite; such a sum is a
 * NaN, and computed again. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
#if PETREL_LANES > 1
  enum {
    FILTER = CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH,
    PER_GROUP = OUT_CHANNELS / GROUPS,
    VECTORS = MOST_WIDTH > LANES ? 2 : 1,
    WIDE = VECTORS * LANES,
    FILTERS = TILE << (2 * TILE * VECTORS <= PETREL_SUMS && PER_GROUP % (2 * TILE) == 0),
    STEP = STRIDE_WIDTH > 1 ? WIDE : DILATION_WIDTH,
    ROW = WIDE + (KERNEL_WIDTH - 1) * STEP,
    /* Division by division: the product may be more than an int holds. */
    MOST = PETREL_STACK_BYTES / (int)sizeof(SUM_TYPE) / KERNEL_HEIGHT / ROW,
    PART = MOST < CHANNELS ? MOST : CHANNELS
  };
  SUM_TYPE rows[PART * KERNEL_HEIGHT * ROW + 1];
#endif
  for (int32_t g = 0; g < BATCH * GROUPS; ++g) {
    const IN_TYPE *from = in + g * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const int32_t begin = g % GROUPS * (OUT_CHANNELS / GROUPS);
    OUT_TYPE *to = out + g * (OUT_CHANNELS / GROUPS * OUT_HEIGHT * OUT_WIDTH);
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      const int32_t top = p * STRIDE_HEIGHT - PADDING_TOP;
#if PETREL_LANES > 1
      const int32_t first = NAME_ABOVE(top, 0), last = NAME_ABOVE(top, IN_HEIGHT);
      for (int32_t q = 0; PART > 0 && q < OUT_WIDTH; q += WIDE) {
        const int32_t left = q * STRIDE_WIDTH - PADDING_LEFT;
        const int32_t count = OUT_WIDTH - q < WIDE ? OUT_WIDTH - q : WIDE;
        for (int32_t k = 0; k < PER_GROUP; k += FILTERS) {
          SUM_VECTOR sums[FILTERS][VECTORS] = {{{0}}};
          for (int32_t part = 0; part < CHANNELS; part += PART) {
            const int32_t end = CHANNELS - part < PART ? CHANNELS : part + PART;
            const SUM_TYPE *x = rows;
            if (PART < CHANNELS || k == 0) {
              NAME_ROWS(from, IN_HEIGHT, IN_WIDTH, part, end, top, first, last, left, ROW, rows);
            }
            const IN_TYPE *filter = filters + (begin + k) * FILTER;
            for (int32_t c = part; c < end; ++c) {
              const IN_TYPE *weight = filter + (c * KERNEL_HEIGHT + first) * KERNEL_WIDTH;
              for (int32_t r = first; r < last; ++r, x += ROW) {
                for (int32_t s = 0; s < KERNEL_WIDTH; ++s, ++weight) {
                  PETREL_UNROLL
                  for (int32_t v = 0; v < VECTORS; ++v) {
                    SUM_VECTOR value;
                    (void)memcpy(&value, x + s * STEP + v * LANES, sizeof value);
                    PETREL_UNROLL
                    for (int32_t t = 0; t < FILTERS; ++t) {
                      sums[t][v] = ADD_PRODUCT(sums[t][v], value, LOAD_SUM(weight[t * FILTER]));
                    }
                  }
                }
              }
            }
          }
          for (int32_t t = 0; t < FILTERS; ++t) {
            const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[begin + k + t]);
            SUM_TYPE tile[WIDE];
            (void)memcpy(tile, sums[t], sizeof tile);
            OUT_TYPE *row = to + ((k + t) * OUT_HEIGHT + p) * OUT_WIDTH + q;
            NAME_FINISH(from, filters + (begin + k + t) * FILTER, start, tile, IN_HEIGHT, IN_WIDTH,
                        top, left, count, row);
          }
        }
      }
      if (PART > 0) {
        continue;
      }
#endif
      NAME_SINGLY(from, filters + begin * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH),
                  bias == NULL ? NULL : &bias[begin], IN_HEIGHT, IN_WIDTH, top, OUT_WIDTH,
                  OUT_HEIGHT * OUT_WIDTH, to + p * OUT_WIDTH);
    }
  }
}
