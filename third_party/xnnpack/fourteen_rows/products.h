/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of floats with AVX-512, in tiles of 14 x 32 and of what is left beside them.
 *
 *   columns  |<-- 32 -->|<-- 32 -->|<- 8..24 ->|   rows 13, 14 | tile.h  | tile.h of 16, by 7 |
 *                                                  rows  5..12 | whole   | the same           |
 *                                                  rows  1..4  | by 2    | narrow             |
 *                         |<--- up to 48 ----->|   rows  5..14 | by 7, 48 columns at once     |
 *
 * Weights are packed in blocks of 32 columns, of which the last may hold few: many layers have
 * 16, 24, 40 or 72 channels. No more of it is computed than there is, in steps of 8. All give the
 * same bits: a sum is added up in the order of the depth by fused multiply-adds.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_PRODUCTS_H_
#define PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_PRODUCTS_H_

#include <stddef.h>

#include "third_party/xnnpack/ahead.h"
#include "xnnpack/microparams.h"

#ifdef __cplusplus
extern "C" {
#endif

/* XNNPACK's contracts of a product and of a convolution's windows, for tiles of 14 x 32. */
void petrel_f32_gemm_minmax_ukernel_14x32__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                                   size_t a_stride, const float* w, float* c,
                                                   size_t cm_stride, size_t cn_stride,
                                                   const union xnn_f32_minmax_params* params);

void petrel_f32_igemm_minmax_ukernel_14x32__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                                    const float** a, const float* w, float* c,
                                                    size_t cm_stride, size_t cn_stride,
                                                    size_t a_offset, const float* zero,
                                                    const union xnn_f32_minmax_params* params);

/* The same for weights that are packed in blocks of 16 columns. */
void petrel_f32_gemm_minmax_ukernel_14x16__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                                   size_t a_stride, const float* w, float* c,
                                                   size_t cm_stride, size_t cn_stride,
                                                   const union xnn_f32_minmax_params* params);

void petrel_f32_igemm_minmax_ukernel_14x16__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                                    const float** a, const float* w, float* c,
                                                    size_t cm_stride, size_t cn_stride,
                                                    size_t a_offset, const float* zero,
                                                    const union xnn_f32_minmax_params* params);

/* Those with tiles of 32, which bring weights ahead besides while whole tiles are computed:
 * `ahead.offset` bytes behind each block of columns, and `ahead.step` bytes further for each
 * quarter of four columns of the depth. */
void petrel_f32_gemm_ahead_14x32__avx512f(size_t mr, size_t nc, size_t kc, const float* a,
                                          size_t a_stride, const float* w, float* c,
                                          size_t cm_stride, size_t cn_stride,
                                          const union xnn_f32_minmax_params* params,
                                          struct petrel_ahead ahead);

void petrel_f32_igemm_ahead_14x32__avx512f(size_t mr, size_t nc, size_t kc, size_t ks,
                                           const float** a, const float* w, float* c,
                                           size_t cm_stride, size_t cn_stride, size_t a_offset,
                                           const float* zero,
                                           const union xnn_f32_minmax_params* params,
                                           struct petrel_ahead ahead);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_PRODUCTS_H_ */
