/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "runtime/micro/kernels/lanes.h"
#include "runtime/micro/kernels/tokens.h"

/* What is computed at once: vectors beside one another, and their elements. */
#define NAME_MOST (PETREL_SUMS / TILE)
#define NAME_VECTORS                                        \
  (LEAST_COLUMNS >= NAME_MOST * LANES       ? NAME_MOST     \
   : LEAST_COLUMNS >= NAME_MOST / 2 * LANES ? NAME_MOST / 2 \
   : LEAST_COLUMNS >= 2 * LANES             ? 2             \
                                            : 1)
#define NAME_WIDE (NAME_VECTORS * LANES)
#define NAME_PLACE(v) ((v)*LANES)
/* Elements become numbers of the type of sums where each is used, or before: of HELD rows once for
 * all columns, PART of the depth at a time, and of the columns of a tile once for all these
 * rows. */
#if PETREL_LANES > 1 && IN_IS_SUM == 0 && PETREL_STACK_BYTES >= 65536
#define NAME_COPIES 1
#define NAME_HELD HELD
#define NAME_PART PART
#define NAME_FACTOR(t, k) factors[(i + (t)) * PART + (k)]
#else
#define NAME_COPIES 0
#define NAME_HELD TILE
#define NAME_PART DEPTH
#define NAME_FACTOR(t, k) LOAD_SUM(in[(held + i + (t)) * DEPTH + part + (k)])
#endif
#define NAME_PANELS (NAME_COPIES && HAS_PANEL)

#if NAME_COPIES
static inline void NAME_WIDEN(const IN_TYPE *in, int32_t count, SUM_TYPE *out) {
  for (int32_t i = 0; i < count; ++i) {
    out[i] = LOAD_SUM(in[i]);
  }
}
#endif

#if NAME_PANELS
#define NAME_VALUE(k, v) NAME_LOAD(panel + (k)*NAME_WIDE + NAME_PLACE(v))

static inline SUM_VECTOR NAME_LOAD(const SUM_TYPE *from) {
  SUM_VECTOR lanes;
  (void)memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
#else
#define NAME_VALUE(k, v) LOAD_LANES(from + NAME_PLACE(v))
#endif

/* What is made of in other and perhaps a bias, matrices of floats of ROWS by DEPTH and DEPTH by
 * COLUMNS; sums run over the depth, ascending. TILE rows by some columns are computed at once, and
 * the last of them twice where they are no multiple. There are at least TILE rows and
 * LEAST_COLUMNS columns. */
static void NAME(const IN_TYPE *in, const IN_TYPE *other, const IN_TYPE *bias, OUT_TYPE *out) {
  (void)bias;
  for (int32_t n = 0; n < BATCHES; ++n) {
    for (int32_t m = 0; m < ROWS; m += NAME_HELD) {
      const int32_t held = n * ROWS + (m + NAME_HELD <= ROWS ? m : ROWS - NAME_HELD);
#if NAME_COPIES
      SUM_TYPE factors[HELD * PART];
      for (int32_t i = 0; DEPTH <= PART && i < HELD; ++i) {
        NAME_WIDEN(in + (held + i) * DEPTH, DEPTH, factors + i * PART);
      }
#endif
      for (int32_t j = 0; j < COLUMNS; j += NAME_WIDE) {
        const int32_t column = j + NAME_WIDE <= COLUMNS ? j : COLUMNS - NAME_WIDE;
#if NAME_PANELS
        SUM_TYPE panel[PART * NAME_WIDE];
        for (int32_t k = 0; k < DEPTH; ++k) {
          NAME_WIDEN(other + (n * DEPTH + k) * COLUMNS + column, NAME_WIDE, panel + k * NAME_WIDE);
        }
#endif
        for (int32_t h = 0; h < NAME_HELD; h += TILE) {
          const int32_t i = h + TILE <= NAME_HELD ? h : NAME_HELD - TILE;
          const IN_TYPE *from = other + n * DEPTH * COLUMNS + column;
          const SUM_VECTOR zero = {0};
          SUM_VECTOR sums[TILE][NAME_VECTORS];
          PETREL_UNROLL
          for (int32_t t = 0; t < TILE; ++t) {
            PETREL_UNROLL
            for (int32_t v = 0; v < NAME_VECTORS; ++v) {
              sums[t][v] = zero;
            }
          }
          for (int32_t part = 0; part < DEPTH; part += NAME_PART) {
            const int32_t count = DEPTH - part < NAME_PART ? DEPTH - part : NAME_PART;
#if NAME_COPIES
            for (int32_t t = 0; DEPTH > PART && t < TILE; ++t) {
              NAME_WIDEN(in + (held + t) * DEPTH + part, count, factors + t * PART);
            }
#endif
            for (int32_t k = 0; k < count; ++k) {
              SUM_VECTOR values[NAME_VECTORS];
              PETREL_UNROLL
              for (int32_t v = 0; v < NAME_VECTORS; ++v) {
                values[v] = NAME_VALUE(k, v);
                if (TILE > 1) {
                  PETREL_KEEP(values[v]);
                }
              }
              PETREL_UNROLL
              for (int32_t t = 0; t < TILE; ++t) {
                const SUM_TYPE factor = NAME_FACTOR(t, k);
                PETREL_UNROLL
                for (int32_t v = 0; v < NAME_VECTORS; ++v) {
                  sums[t][v] = ADD_PRODUCT(sums[t][v], values[v], factor);
                }
              }
              from = &from[COLUMNS];
            }
          }
          PETREL_UNROLL
          for (int32_t t = 0; t < TILE; ++t) {
            PETREL_UNROLL
            for (int32_t v = 0; v < NAME_VECTORS; ++v) {
              const int32_t r = held + i + t;
              SUM_TYPE lanes[LANES];
              OUT_TYPE made[LANES];
              (void)memcpy(lanes, &sums[t][v], sizeof lanes);
              for (int32_t l = 0; l < LANES; ++l) {
                const int32_t c = column + NAME_PLACE(v) + l;
                const SUM_TYPE sum = lanes[l];
                made[l] = STORE_OUT(FINISH);
                (void)c;
              }
              (void)memcpy(out + r * COLUMNS + column + NAME_PLACE(v), made, sizeof made);
            }
          }
        }
      }
    }
  }
}
