/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiles that products and convolutions of floats may be computed in, one of which a process
 * uses for all of them: the rule of gemm-config.c, or another one that is chosen before XNNPACK
 * makes its first operator.
 *
 *   size_t count = 0;
 *   const struct petrel_tile* tiles = petrel_tiles(&count);
 *   if (petrel_tile_is_possible(&tiles[0])) petrel_choose_tile(&tiles[0]);
 *
 * All of them give the same bits: a sum is added up in the order of the inputs by fused
 * multiply-adds. Those that add in groups of four inputs (the s4 tiles of FMA3) and those with
 * three rows, whose convolutions of few columns take kernels of two, are left out therefore. A
 * machine without FMA3 has no candidates, nor has one that is not x86-64. Tiles are constants.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_CANDIDATES_H_
#define PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_CANDIDATES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "third_party/xnnpack/ahead.h"

#ifdef __cplusplus
extern "C" {
#endif

union xnn_f32_minmax_params;
struct xnn_gemm_config;

/* XNNPACK's contracts of a product and of a convolution's windows. */
typedef void (*petrel_tile_product)(size_t mr, size_t nc, size_t kc, const float* a,
                                    size_t a_stride, const float* w, float* c, size_t cm_stride,
                                    size_t cn_stride, const union xnn_f32_minmax_params* params);
typedef void (*petrel_tile_windows)(size_t mr, size_t nc, size_t kc, size_t ks, const float** a,
                                    const float* w, float* c, size_t cm_stride, size_t cn_stride,
                                    size_t a_offset, const float* zero,
                                    const union xnn_f32_minmax_params* params);

typedef void (*petrel_tile_product_ahead)(size_t mr, size_t nc, size_t kc, const float* a,
                                          size_t a_stride, const float* w, float* c,
                                          size_t cm_stride, size_t cn_stride,
                                          const union xnn_f32_minmax_params* params,
                                          struct petrel_ahead ahead);

struct petrel_tile {
  const char* name; /* "14x32-avx512f": rows, columns and instructions */
  size_t rows;
  size_t columns; /* of a block of packed weights */
  uint32_t needs; /* one of XNN_CAP_AVX512F and XNN_CAP_FMA3, petrel/cap.h */
  petrel_tile_product product_of_row;
  petrel_tile_product product;
  petrel_tile_windows windows_of_row;
  petrel_tile_windows windows;
  /* Null in tiles that bring no weights ahead, as others do from so many rows on. */
  petrel_tile_product_ahead product_ahead;
  size_t least_rows_ahead;
};

/* Those of the architecture; no two have the same name. */
const struct petrel_tile* petrel_tiles(size_t* count);

/* Null for a name that is none of theirs. */
const struct petrel_tile* petrel_find_tile(const char* name);

/* Whether the processor has what it needs, and the cap allows it. False before the cap is set. */
bool petrel_tile_is_possible(const struct petrel_tile* tile);

/* The one of the rule, null where that has none of these. Precondition: as above. */
const struct petrel_tile* petrel_usual_tile(void);

/* Before XNNPACK makes its first operator, and at most once. Precondition: it is possible. */
void petrel_choose_tile(const struct petrel_tile* tile);

/* Null as long as none was chosen: the rule. */
const struct petrel_tile* petrel_chosen_tile(void);

/* Changes what the rule set, if a tile was chosen. Of gemm-config.c. */
void petrel_apply_tile(struct xnn_gemm_config* config);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_TILE_CHOICE_CANDIDATES_H_ */
