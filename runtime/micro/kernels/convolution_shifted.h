/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

#include "runtime/micro/kernels/one_window.h"

#if PETREL_LANES > 1
#include "runtime/micro/kernels/odd_lanes.h"
#include "runtime/micro/kernels/store_lanes.h"

/* Sums of windows that begin at each place of the input, up to that of the last output, and the
 * vectors of them, of which some are computed at once. */
#define NAME_SUMS ((OUT_HEIGHT - 1) * IN_WIDTH + OUT_WIDTH)
#define NAME_VECTORS ((NAME_SUMS + LANES - 1) / LANES)
#define NAME_TILE (NAME_VECTORS < 5 ? NAME_VECTORS : NAME_VECTORS % 4 == 0 ? 4 : 5)
/* The last ones are computed twice where they are no multiple. */
#define NAME_PLACE(v) ((v) + 1 < NAME_VECTORS || NAME_SUMS < LANES ? (v)*LANES : NAME_SUMS - LANES)
/* Whether all of them are outputs, or but the first ones of each row. */
#define NAME_ARE_ALL (OUT_WIDTH == IN_WIDTH && NAME_SUMS >= LANES)
/* Where the plane begins in a line, and how long that is. */
#define NAME_START (PADDING_TOP * IN_WIDTH + PADDING_LEFT)
#define NAME_END (NAME_START + IN_HEIGHT * IN_WIDTH)
#define NAME_REACH \
  ((KERNEL_HEIGHT - 1) * DILATION_HEIGHT * IN_WIDTH + (KERNEL_WIDTH - 1) * DILATION_WIDTH)
#define NAME_READ (NAME_VECTORS * LANES + NAME_REACH)
#define NAME_LENGTH (NAME_END < NAME_READ ? NAME_READ : NAME_END)
/* Channels at a time: as many as half of the stack has room for, so that no line is read at once
 * after it was written. */
#define NAME_FIT (PETREL_STACK_BYTES / 2 / (int)sizeof(SUM_TYPE) / KERNEL_WIDTH / NAME_LENGTH)
#define NAME_BLOCK (NAME_FIT < 4 ? NAME_FIT : 4)

/* A line for each column of the filter: the plane, with 0 for those of its columns that the column
 * of the filter meets only where it is beside the plane, in the row before or after. */
static inline void NAME_LINES(const IN_TYPE *in, const SUM_TYPE *inside, SUM_TYPE *lines) {
  PETREL_UNROLL
  for (int32_t s = 0; s < KERNEL_WIDTH; ++s) {
    SUM_TYPE *line = lines + s * NAME_LENGTH + NAME_START;
    for (int32_t i = 0; i < IN_HEIGHT * IN_WIDTH; ++i) {
      line[i] = LOAD_SUM(in[i]) * inside[s * (IN_HEIGHT * IN_WIDTH) + i];
    }
  }
}

/* Sums of one channel, and its outputs where these are all. What is no number makes `odd` so. */
__attribute__((noinline)) static SUM_VECTOR NAME_PLANE(const SUM_TYPE *lines, const IN_TYPE *filter,
                                                       SUM_TYPE start, SUM_VECTOR odd,
                                                       SUM_TYPE *sums, OUT_TYPE *to) {
  SUM_TYPE weights[KERNEL_HEIGHT * KERNEL_WIDTH];
  for (int32_t i = 0; i < KERNEL_HEIGHT * KERNEL_WIDTH; ++i) {
    weights[i] = LOAD_SUM(filter[i]);
  }
  for (int32_t n = 0; n < NAME_VECTORS; n += NAME_TILE) {
    const int32_t first = n + NAME_TILE <= NAME_VECTORS ? n : NAME_VECTORS - NAME_TILE;
    const SUM_VECTOR zero = {0};
    SUM_VECTOR tile[NAME_TILE];
    PETREL_UNROLL
    for (int32_t t = 0; t < NAME_TILE; ++t) {
      tile[t] = zero;
    }
    PETREL_UNROLL
    for (int32_t i = 0; i < KERNEL_HEIGHT * KERNEL_WIDTH; ++i) {
      const SUM_TYPE *line = lines + i % KERNEL_WIDTH * (NAME_LENGTH + DILATION_WIDTH) +
                             i / KERNEL_WIDTH * DILATION_HEIGHT * IN_WIDTH;
      PETREL_UNROLL
      for (int32_t t = 0; t < NAME_TILE; ++t) {
        SUM_VECTOR value;
        (void)memcpy(&value, line + NAME_PLACE(first + t), sizeof value);
        tile[t] = ADD_PRODUCT(tile[t], value, weights[i]);
      }
    }
    PETREL_UNROLL
    for (int32_t t = 0; t < NAME_TILE; ++t) {
      odd += tile[t] - tile[t];
      if (NAME_ARE_ALL) {
        NAME_STORE(start + tile[t], to + NAME_PLACE(first + t));
      } else {
        (void)memcpy(sums + NAME_PLACE(first + t), &tile[t], sizeof tile[t]);
      }
    }
  }
  return odd;
}
#endif

/* The same as convolution.h, for filters of one channel each that move by one place, on planes
 * whose rows are shorter than vectors: sums of all places run side by side, over the ends of rows.
 * Padding changes no sum but where a filter has what is not finite; such a sum is a NaN, and all
 * are computed again. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
#if PETREL_LANES > 1
  SUM_TYPE inside[NAME_BLOCK > 0 ? KERNEL_WIDTH * IN_HEIGHT * IN_WIDTH : 1];
  SUM_TYPE lines[NAME_BLOCK > 0 ? NAME_BLOCK * KERNEL_WIDTH * NAME_LENGTH : 1];
  SUM_TYPE sums[NAME_BLOCK > 0 ? NAME_VECTORS * LANES : 1];
  SUM_VECTOR odd = {0};
  (void)memset(lines, 0, sizeof lines);
  for (int32_t i = 0; NAME_BLOCK > 0 && i < KERNEL_WIDTH * IN_HEIGHT; ++i) {
    const int32_t shift = i / IN_HEIGHT * DILATION_WIDTH - PADDING_LEFT;
    for (int32_t w = 0; w < IN_WIDTH; ++w) {
      inside[i * IN_WIDTH + w] = (SUM_TYPE)(w >= shift && w < IN_WIDTH + shift ? 1 : 0);
    }
  }
  for (int32_t k = 0; NAME_BLOCK > 0 && k < BATCH * OUT_CHANNELS; k += NAME_BLOCK) {
    const int32_t rest = BATCH * OUT_CHANNELS - k;
    const int32_t count = rest < NAME_BLOCK ? rest : NAME_BLOCK;
    for (int32_t b = 0; b < count; ++b) {
      NAME_LINES(in + (k + b) / per_group * (IN_HEIGHT * IN_WIDTH), inside,
                 lines + b * (KERNEL_WIDTH * NAME_LENGTH));
    }
    for (int32_t b = 0; b < count; ++b) {
      const int32_t channel = (k + b) % OUT_CHANNELS;
      const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[channel]);
      OUT_TYPE *to = out + (k + b) * places;
      odd = NAME_PLANE(lines + b * (KERNEL_WIDTH * NAME_LENGTH),
                       filters + channel * (KERNEL_HEIGHT * KERNEL_WIDTH), start, odd, sums, to);
      for (int32_t i = 0; !NAME_ARE_ALL && i < places; ++i) {
        to[i] = STORE_OUT(start + sums[i / OUT_WIDTH * IN_WIDTH + i % OUT_WIDTH]);
      }
    }
  }
  if (NAME_BLOCK > 0 && !(PADDING_TOP + PADDING_LEFT > 0 && NAME_IS_ODD(odd))) {
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
