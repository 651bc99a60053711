/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* The outputs of one group, one after another: each is its bias and the sum over channels. */
static void NAME_SINGLY(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias,
                        OUT_TYPE *out) {
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
  for (int32_t i = 0; i < OUT_CHANNELS / GROUPS * places; ++i) {
    const IN_TYPE *filter = filters + i / places * CHANNELS;
    SUM_TYPE sum = (SUM_TYPE)0;
    for (int32_t c = 0; c < CHANNELS; ++c) {
      sum += LOAD_SUM(in[c * places + i % places]) * LOAD_SUM(filter[c]);
    }
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[i / places]);
    out[i] = STORE_OUT(start + sum);
  }
}

#if PETREL_LANES > 1
#include "runtime/micro/kernels/store_lanes.h"

/* How many vectors hold all places, in tiles of some vectors. */
#define NAME_FULL(vectors) \
  ((OUT_HEIGHT * OUT_WIDTH + (vectors)*LANES - 1) / ((vectors)*LANES) * (vectors))
/* As many filters and vectors as there are registers for, in narrower tiles where those waste
 * less, as many filters as the stack has room for, and equally many in each turn. */
#define NAME_WIDEST (OUT_CHANNELS / GROUPS < 4 ? 4 : 2)
#define NAME_VECTORS                                                                       \
  (NAME_FULL(NAME_WIDEST) <= NAME_FULL(1) && OUT_HEIGHT * OUT_WIDTH >= NAME_WIDEST * LANES \
       ? NAME_WIDEST                                                                       \
       : 1)
#define NAME_ROOM (PETREL_STACK_BYTES / (int)sizeof(SUM_TYPE) / CHANNELS)
#define NAME_MOST (PETREL_SUMS / NAME_VECTORS < NAME_ROOM ? PETREL_SUMS / NAME_VECTORS : NAME_ROOM)
#define NAME_FILTERS (NAME_MOST < OUT_CHANNELS / GROUPS ? NAME_MOST : OUT_CHANNELS / GROUPS)
#define NAME_TURNS \
  ((OUT_CHANNELS / GROUPS + (NAME_MOST < 1 ? 1 : NAME_MOST) - 1) / (NAME_MOST < 1 ? 1 : NAME_MOST))
#define NAME_TILE ((OUT_CHANNELS / GROUPS + NAME_TURNS - 1) / NAME_TURNS)

/* A tile of the output: some filters by a few vectors of places. */
static inline void NAME_SUMS(const IN_TYPE *in, const SUM_TYPE *weights, const IN_TYPE *bias,
                             OUT_TYPE *out) {
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
  const SUM_VECTOR zero = {0};
  SUM_VECTOR sums[NAME_TILE][NAME_VECTORS];
  PETREL_UNROLL
  for (int32_t t = 0; t < NAME_TILE; ++t) {
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      sums[t][v] = zero;
    }
  }
  for (int32_t c = 0; c < CHANNELS; ++c) {
    SUM_VECTOR values[NAME_VECTORS];
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      values[v] = LOAD_LANES(in + v * LANES);
      PETREL_KEEP(values[v]);
    }
    PETREL_UNROLL
    for (int32_t t = 0; t < NAME_TILE; ++t) {
      const SUM_TYPE weight = weights[t * CHANNELS + c];
      PETREL_UNROLL
      for (int32_t v = 0; v < NAME_VECTORS; ++v) {
        sums[t][v] = ADD_PRODUCT(sums[t][v], values[v], weight);
      }
    }
    in = &in[places];
  }
  PETREL_UNROLL
  for (int32_t t = 0; t < NAME_TILE; ++t) {
    const SUM_TYPE start = bias == NULL ? (SUM_TYPE)0 : LOAD_SUM(bias[t]);
    PETREL_UNROLL
    for (int32_t v = 0; v < NAME_VECTORS; ++v) {
      NAME_STORE(start + sums[t][v], out + t * places + v * LANES);
    }
  }
}
#endif

/* The same as convolution.h, of filters of one point that meet every place of the input, so that
 * it is a product of matrices. Of places and filters that are no multiple of a tile the last ones
 * are computed twice. Weights are made numbers of the type of sums once for BLOCK places. There are
 * at least as many places as a vector has. */
static void NAME(const IN_TYPE *in, const IN_TYPE *filters, const IN_TYPE *bias, OUT_TYPE *out) {
  const int32_t per_group = OUT_CHANNELS / GROUPS;
  const int32_t places = OUT_HEIGHT * OUT_WIDTH;
#if PETREL_LANES > 1
  enum { WIDE = NAME_VECTORS * LANES, BLOCK = 256 / WIDE * WIDE };
#endif
  for (int32_t g = 0; g < BATCH * GROUPS; ++g) {
    const IN_TYPE *from = in + g * (CHANNELS * places);
    const int32_t begin = g % GROUPS * per_group;
    OUT_TYPE *to = out + g * (per_group * places);
#if PETREL_LANES > 1
    for (int32_t block = 0; NAME_FILTERS > 0 && block < places; block += BLOCK) {
      const int32_t end = places - block < BLOCK ? places : block + BLOCK;
      for (int32_t k = 0; k < per_group; k += NAME_TILE) {
        const int32_t first = k + NAME_TILE <= per_group ? k : per_group - NAME_TILE;
        const IN_TYPE *filter = filters + (begin + first) * CHANNELS;
#if IN_IS_SUM
        const SUM_TYPE *weights = filter;
#else
        SUM_TYPE weights[NAME_TILE * CHANNELS];
        for (int32_t i = 0; i < NAME_TILE * CHANNELS; ++i) {
          weights[i] = LOAD_SUM(filter[i]);
        }
#endif
        for (int32_t n = block; n < end; n += WIDE) {
          const int32_t place = n + WIDE <= places ? n : places - WIDE;
          NAME_SUMS(from + place, weights, bias == NULL ? NULL : &bias[begin + first],
                    to + first * places + place);
        }
      }
    }
    if (NAME_FILTERS > 0) {
      continue;
    }
#endif
    NAME_SINGLY(from, filters + begin * CHANNELS, bias == NULL ? NULL : &bias[begin], to);
  }
}
