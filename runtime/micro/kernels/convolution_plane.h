/* SPDX-License-Identifier: Apache-2.0 */
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

/* How far a window reaches, how many columns of the input it begins at in turn, how many elements
 * of a row of the input meet one column of it, and the vectors of a row of the output. */
#define NAME_TALL ((KERNEL_HEIGHT - 1) * DILATION_HEIGHT)
#define NAME_LONG ((KERNEL_WIDTH - 1) * DILATION_WIDTH)
#define NAME_PHASES (NAME_LONG < STRIDE_WIDTH ? NAME_LONG + 1 : STRIDE_WIDTH)
#define NAME_PITCH (OUT_WIDTH + NAME_LONG / STRIDE_WIDTH)
#define NAME_LINE (NAME_PHASES * NAME_PITCH)
#define NAME_WIDE ((OUT_WIDTH + LANES - 1) / LANES * LANES)
/* Rows of the output that are computed at once: those whose input stays in the nearest cache. */
#define NAME_BYTES (PETREL_STACK_BYTES < 32768 ? PETREL_STACK_BYTES : 32768)
#define NAME_SPARE                                                            \
  (NAME_BYTES / (int)sizeof(SUM_TYPE) - LANES - (NAME_TALL + 1) * NAME_LINE - \
   (CHANNELS > 1 ? 4 * NAME_WIDE : 0))
#define NAME_FIT      \
  (NAME_SPARE < 0 ? 0 \
                  : NAME_SPARE / (STRIDE_HEIGHT * NAME_LINE + (CHANNELS > 1 ? NAME_WIDE : 0)) + 1)
#define NAME_ROWS (NAME_FIT < OUT_HEIGHT ? NAME_FIT : OUT_HEIGHT)
/* Of them, those that one tile has. */
#define NAME_TILE \
  (NAME_ROWS < 1 ? 1 : NAME_ROWS < 4 ? NAME_ROWS : NAME_ROWS % 3 == 0 && NAME_ROWS % 4 != 0 ? 3 : 4)

/* Rows of the input from `top` on, each taken apart by the columns that windows begin at in turn;
 * what is to the left and right of the input is 0 already, and so is all at first. */
static inline void NAME_LINES(const IN_TYPE *in, int32_t top, SUM_TYPE *lines) {
  for (int32_t l = 0; l <= (NAME_ROWS - 1) * STRIDE_HEIGHT + NAME_TALL; ++l) {
    const int32_t h = top + l;
    SUM_TYPE *line = lines + l * NAME_LINE;
    if (h < 0 || h >= IN_HEIGHT) {
      /* Of an output that is computed at once these lines stay as they are. */
      for (int32_t i = 0; NAME_ROWS < OUT_HEIGHT && i < NAME_LINE; ++i) {
        line[i] = (SUM_TYPE)0;
      }
      continue;
    }
    PETREL_UNROLL
    for (int32_t a = 0; a < NAME_PHASES; ++a) {
      const int32_t left = PADDING_LEFT - a;
      const int32_t rest = IN_WIDTH + left;
      const int32_t begin = left <= 0 ? 0 : (left + STRIDE_WIDTH - 1) / STRIDE_WIDTH;
      const int32_t inside = rest <= 0 ? 0 : (rest - 1) / STRIDE_WIDTH + 1;
      const int32_t end = inside < NAME_PITCH ? inside : NAME_PITCH;
      for (int32_t i = begin; i < end; ++i) {
        line[a * NAME_PITCH + i] = LOAD_SUM(in[h * IN_WIDTH + i * STRIDE_WIDTH - left]);
      }
    }
  }
}

/* Adds what the rows get from channel `c`, and writes them where it is the last. The end of a row
 * that is no vector lies over the start of the next one, which comes later; `room` elements are
 * there. What is no number makes `odd` so. A function of its own: where gcc 12 put it into its
 * caller, with -O3 for AVX-512, sums were wrong. */
__attribute__((noinline)) static SUM_VECTOR NAME_SUMS(const SUM_TYPE *lines, const IN_TYPE *filter,
                                                      int32_t c, SUM_TYPE start, SUM_VECTOR odd,
                                                      SUM_TYPE *sums, int32_t room, OUT_TYPE *to) {
  const IN_TYPE *weights = filter + c * (KERNEL_HEIGHT * KERNEL_WIDTH);
  for (int32_t n = 0; n < NAME_ROWS; n += NAME_TILE) {
    const int32_t p = n + NAME_TILE <= NAME_ROWS ? n : NAME_ROWS - NAME_TILE;
    for (int32_t m = 0; m < OUT_WIDTH; m += LANES) {
      const int32_t q = m + LANES <= OUT_WIDTH || m == 0 ? m : OUT_WIDTH - LANES;
      SUM_VECTOR tile[NAME_TILE];
      PETREL_UNROLL
      for (int32_t t = 0; t < NAME_TILE; ++t) {
        const SUM_VECTOR zero = {0};
        tile[t] = zero;
        if (c > 0) {
          (void)memcpy(&tile[t], sums + (n + t) * NAME_WIDE + m, sizeof tile[t]);
        }
      }
      PETREL_UNROLL
      for (int32_t r = 0; r < KERNEL_HEIGHT; ++r) {
        const SUM_TYPE *line = lines + (p * STRIDE_HEIGHT + r * DILATION_HEIGHT) * NAME_LINE + q;
        PETREL_UNROLL
        for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
          const int32_t w = s * DILATION_WIDTH;
          const SUM_TYPE weight = LOAD_SUM(weights[r * KERNEL_WIDTH + s]);
          PETREL_UNROLL
          for (int32_t t = 0; t < NAME_TILE; ++t) {
            SUM_VECTOR value;
            (void)memcpy(&value,
                         line + t * STRIDE_HEIGHT * NAME_LINE + w % STRIDE_WIDTH * NAME_PITCH +
                             w / STRIDE_WIDTH,
                         sizeof value);
            tile[t] = ADD_PRODUCT(tile[t], value, weight);
          }
        }
      }
      PETREL_UNROLL
      for (int32_t t = 0; t < NAME_TILE; ++t) {
        if (c + 1 < CHANNELS) {
          (void)memcpy(sums + (n + t) * NAME_WIDE + m, &tile[t], sizeof tile[t]);
        } else {
          const int32_t at = (p + t) * OUT_WIDTH + q;
          odd += tile[t] - tile[t];
          if (OUT_WIDTH < LANES && room - at < LANES) {
            NAME_STORE_SOME(start + tile[t], room - at, to + at);
          } else {
            NAME_STORE(start + tile[t], to + at);
          }
        }
      }
    }
  }
  return odd;
}
#endif

/* The same as convolution.h, for filters that share no input. In vectors, sums of a row of the
 * output run side by side, over rows that are padded with 0 and, where windows are apart, taken
 * apart, so that one element of a filter meets neighbours in memory. Padding changes no sum but
 * where a filter has what is not finite; such a sum is a NaN, and all are computed again. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
#if PETREL_LANES > 1
  enum { LINES = (NAME_ROWS - 1) * STRIDE_HEIGHT + NAME_TALL + 1 };
  SUM_TYPE lines[NAME_ROWS > 0 ? LINES * NAME_LINE + LANES : 1];
  SUM_TYPE sums[NAME_ROWS > 0 && CHANNELS > 1 ? (NAME_ROWS + 3) * NAME_WIDE : 1];
  SUM_VECTOR odd = {0};
  (void)memset(lines, 0, sizeof lines);
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const IN_TYPE *from = in + k / per_group * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const IN_TYPE *filter = filters + k % OUT_CHANNELS * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    for (int32_t n = 0; NAME_ROWS > 0 && n < OUT_HEIGHT; n += NAME_ROWS) {
      const int32_t p = n + NAME_ROWS <= OUT_HEIGHT ? n : OUT_HEIGHT - NAME_ROWS;
      for (int32_t c = 0; c < CHANNELS; ++c) {
        NAME_LINES(from + c * (IN_HEIGHT * IN_WIDTH), p * STRIDE_HEIGHT - PADDING_TOP, lines);
        odd = NAME_SUMS(lines, filter, c, start, odd, sums,
                        (BATCH * OUT_CHANNELS - k) * places - p * OUT_WIDTH,
                        out + k * places + p * OUT_WIDTH);
      }
    }
  }
  if (NAME_ROWS > 0 && !(PADDING_TOP + PADDING_LEFT > 0 && NAME_IS_ODD(odd))) {
    return;
  }
#endif
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const IN_TYPE *from = in + k / per_group * (CHANNELS * IN_HEIGHT * IN_WIDTH);
    const IN_TYPE *filter = filters + k % OUT_CHANNELS * (CHANNELS * KERNEL_HEIGHT * KERNEL_WIDTH);
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    NAME_SINGLY(from, filter, start, out + k * places);
  }
}
