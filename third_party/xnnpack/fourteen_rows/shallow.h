/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel of pixels' products with few inputs, with AVX-512: seven rows of whole blocks of 32
 * columns by XNNPACK's kernel, and what is left by that of fourteen rows.
 *
 *   columns  |<-- 32 -->|<-- 32 -->|<- rest ->|
 *   rows 1-7 | 7 x 32   | 7 x 32   | products.h
 *   rows 8-  | 7 x 32   | 7 x 32   | the same
 *
 * What a tile does at its beginning and its end takes as long as some inputs, and the processor
 * begins the next tile meanwhile if that is small. Weights are packed for both alike, and results
 * are the same bits.
 *
 *   config = petrel_f32_config_of_depth(config, group_input_channels);
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_SHALLOW_H_
#define PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_SHALLOW_H_

#include <stddef.h>

#include "xnnpack/config-types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `usual`, which is that of floats, or one for few inputs beside it. */
const struct xnn_gemm_config* petrel_f32_config_of_depth(const struct xnn_gemm_config* usual,
                                                         size_t depth);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_SHALLOW_H_ */
