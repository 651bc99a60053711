/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

#include "runtime/micro/kernels/one_window.h"

#if PETREL_LANES > 1
#include "runtime/micro/kernels/odd_lanes.h"
#include "runtime/micro/kernels/quads.h"
#include "runtime/micro/kernels/store_lanes.h"

/* Channels at a time, in vectors. */
#define NAME_BLOCK (LANES < PETREL_QUADS ? PETREL_QUADS : LANES)
/* What windows meet of a plane and its padding. */
#define NAME_HEIGHT ((OUT_HEIGHT - 1) * STRIDE_HEIGHT + (KERNEL_HEIGHT - 1) * DILATION_HEIGHT + 1)
#define NAME_WIDTH ((OUT_WIDTH - 1) * STRIDE_WIDTH + (KERNEL_WIDTH - 1) * DILATION_WIDTH + 1)
#define NAME_TAPS (KERNEL_HEIGHT * KERNEL_WIDTH)
#define NAME_PLACES (OUT_HEIGHT * OUT_WIDTH)
/* Outputs of a row that are computed at once, equally many in each turn. */
#define NAME_TURNS ((OUT_WIDTH + 4) / 5)
#define NAME_TILE ((OUT_WIDTH + NAME_TURNS - 1) / NAME_TURNS)
#define NAME_FITS                                                                       \
  (PETREL_STACK_BYTES / NAME_BLOCK / (int)sizeof(SUM_TYPE) - NAME_TAPS - NAME_PLACES >= \
   NAME_HEIGHT * NAME_WIDTH)

/* Brings element `i` of NAME_BLOCK channels, which are `apart`, side by side: the first `columns`
 * of some rows, which are `width` long and `pitch` there. */
static inline void NAME_TURN(const IN_TYPE *from, int32_t apart, int32_t rows, int32_t columns,
                             int32_t width, int32_t pitch, SUM_TYPE *to) {
  for (int32_t h = 0; h < rows; ++h) {
    for (int32_t w = 0; columns < 4 && w < columns; ++w) {
      for (int32_t c = 0; c < NAME_BLOCK; ++c) {
        to[(h * pitch + w) * NAME_BLOCK + c] = LOAD_SUM(from[c * apart + h * width + w]);
      }
    }
    for (int32_t w = 0; columns >= 4 && w < columns; w += 4) {
      const int32_t first = w + 4 <= columns ? w : columns - 4;
      PETREL_UNROLL
      for (int32_t c = 0; c < NAME_BLOCK; c += PETREL_QUADS) {
        SUM_TYPE *out = to + (h * pitch + first) * NAME_BLOCK + c;
        petrel_quads quads[4];
        petrel_load_quads(from + c * apart + h * width + first, apart, quads);
        petrel_turn_quads(quads);
        PETREL_UNROLL
        for (int32_t i = 0; i < 4; ++i) {
#if IN_IS_SUM
          (void)memcpy(out + i * NAME_BLOCK, &quads[i], sizeof quads[i]);
#else
          float column[PETREL_QUADS];
          (void)memcpy(column, &quads[i], sizeof column);
          PETREL_UNROLL
          for (int32_t l = 0; l < PETREL_QUADS; l += LANES) {
            const SUM_VECTOR lanes = LOAD_LANES(column + l);
            (void)memcpy(out + i * NAME_BLOCK + l, &lanes, sizeof lanes);
          }
#endif
        }
      }
    }
  }
}

/* Outputs of NAME_BLOCK channels side by side. What is no number makes `odd` so. */
__attribute__((noinline)) static SUM_VECTOR NAME_SUMS(const SUM_TYPE *plane,
                                                      const SUM_TYPE *weights, const IN_TYPE *bias,
                                                      SUM_VECTOR odd, OUT_TYPE *to) {
  for (int32_t c = 0; c < NAME_BLOCK; c += LANES) {
    SUM_VECTOR start = {0};
    SUM_VECTOR taps[NAME_TAPS];
    if (bias != NULL) {
      start = LOAD_LANES(bias + c);
    }
    PETREL_UNROLL
    for (int32_t i = 0; i < NAME_TAPS; ++i) {
      (void)memcpy(&taps[i], weights + i * NAME_BLOCK + c, sizeof taps[i]);
    }
    for (int32_t p = 0; p < OUT_HEIGHT; ++p) {
      SUM_VECTOR nothing = {0};
      for (int32_t m = 0; m < OUT_WIDTH; m += NAME_TILE) {
        const int32_t q = m + NAME_TILE <= OUT_WIDTH ? m : OUT_WIDTH - NAME_TILE;
        const SUM_TYPE *window =
            plane + (p * STRIDE_HEIGHT * NAME_WIDTH + q * STRIDE_WIDTH) * NAME_BLOCK + c;
        SUM_VECTOR sums[NAME_TILE] = {{0}};
        PETREL_UNROLL
        for (int32_t i = 0; i < NAME_TAPS; ++i) {
          PETREL_UNROLL
          for (int32_t t = 0; t < NAME_TILE; ++t) {
            const int32_t row = i / KERNEL_WIDTH * DILATION_HEIGHT * NAME_WIDTH;
            const int32_t column = i % KERNEL_WIDTH * DILATION_WIDTH + t * STRIDE_WIDTH;
            SUM_VECTOR value;
            (void)memcpy(&value, window + (row + column) * NAME_BLOCK, sizeof value);
            sums[t] = ADD_PRODUCTS(sums[t], value, taps[i]);
          }
        }
        PETREL_UNROLL
        for (int32_t t = 0; t < NAME_TILE; ++t) {
          nothing += sums[t] - sums[t];
          NAME_STORE(start + sums[t], to + (p * OUT_WIDTH + q + t) * NAME_BLOCK + c);
        }
      }
      odd += nothing;
    }
  }
  return odd;
}

/* Outputs of NAME_BLOCK channels, place by place, become those of one channel after another. */
static inline void NAME_RETURN(const OUT_TYPE *from, OUT_TYPE *to) {
  for (int32_t i = 0; NAME_PLACES < 4 && i < NAME_PLACES * NAME_BLOCK; ++i) {
    to[i % NAME_BLOCK * NAME_PLACES + i / NAME_BLOCK] = from[i];
  }
  for (int32_t i = 0; NAME_PLACES >= 4 && i < NAME_PLACES; i += 4) {
    const int32_t first = i + 4 <= NAME_PLACES ? i : NAME_PLACES - 4;
    PETREL_UNROLL
    for (int32_t c = 0; c < NAME_BLOCK; c += PETREL_QUADS) {
      petrel_quads quads[4];
      PETREL_UNROLL
      for (int32_t l = 0; l < 4; ++l) {
        (void)memcpy(&quads[l], from + (first + l) * NAME_BLOCK + c, sizeof quads[l]);
      }
      petrel_turn_quads(quads);
      petrel_store_quads(quads, NAME_PLACES, to + c * NAME_PLACES + first);
    }
  }
}
#endif

/* The same as convolution.h, for filters of one channel each on small planes. In vectors, sums of
 * channels run side by side, over planes whose channels are brought there and padded with 0.
 * Padding changes no sum but where a filter has what is not finite; such a sum is a NaN, and all
 * are computed again. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t size = IN_HEIGHT * IN_WIDTH;
#if PETREL_LANES > 1
  enum {
    RIGHT = NAME_WIDTH - PADDING_LEFT,
    BELOW = NAME_HEIGHT - PADDING_TOP,
    COLUMNS = RIGHT < IN_WIDTH ? RIGHT : IN_WIDTH,
    ROWS = BELOW < IN_HEIGHT ? BELOW : IN_HEIGHT
  };
  SUM_TYPE plane[NAME_FITS ? NAME_HEIGHT * NAME_WIDTH * NAME_BLOCK : 1];
  SUM_TYPE weights[NAME_FITS ? NAME_TAPS * NAME_BLOCK : 1];
  OUT_TYPE outputs[NAME_FITS ? NAME_PLACES * NAME_BLOCK : 1];
  SUM_VECTOR odd = {0};
  (void)memset(plane, 0, sizeof plane);
  for (int32_t n = 0; NAME_FITS && n < BATCH; ++n) {
    for (int32_t k = 0; k < OUT_CHANNELS; k += NAME_BLOCK) {
      const int32_t c = k + NAME_BLOCK <= OUT_CHANNELS ? k : OUT_CHANNELS - NAME_BLOCK;
      NAME_TURN(filters + c * NAME_TAPS, NAME_TAPS, 1, NAME_TAPS, NAME_TAPS, NAME_TAPS, weights);
      NAME_TURN(in + (n * OUT_CHANNELS + c) * size, size, ROWS, COLUMNS, IN_WIDTH, NAME_WIDTH,
                plane + (PADDING_TOP * NAME_WIDTH + PADDING_LEFT) * NAME_BLOCK);
      odd = NAME_SUMS(plane, weights, bias == NULL ? NULL : &bias[c], odd, outputs);
      NAME_RETURN(outputs, out + (n * OUT_CHANNELS + c) * NAME_PLACES);
    }
  }
  if (NAME_FITS && !(PADDING_TOP + PADDING_LEFT > 0 && NAME_IS_ODD(odd))) {
    return;
  }
#endif
  for (int32_t k = 0; k < BATCH * OUT_CHANNELS; ++k) {
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[k % OUT_CHANNELS]);
    NAME_SINGLY(in + k * size, filters + k % OUT_CHANNELS * (KERNEL_HEIGHT * KERNEL_WIDTH), start,
                out + k * (OUT_HEIGHT * OUT_WIDTH));
  }
}
