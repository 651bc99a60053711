/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of convolutions whose groups have 9 to 16 outputs, with AVX-512: their weights are
 * packed in blocks of 16 columns. In blocks of 32, a half or more of what is packed is zeros.
 *
 *   if (groups > 1) config = petrel_f32_config_of_group(config, group_output_channels);
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_HALVES_H_
#define PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_HALVES_H_

#include <stddef.h>

#include "xnnpack/config-types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `usual`, which is that of floats, or one with blocks of 16 columns beside it. */
const struct xnn_gemm_config* petrel_f32_config_of_group(const struct xnn_gemm_config* usual,
                                                         size_t outputs);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_FOURTEEN_ROWS_HALVES_H_ */
