/* SPDX-License-Identifier: Apache-2.0
 *
 * Split products (split.h) as XNNPACK's operators take them: a configuration of kernels beside
 * that of floats, with the same parameters.
 *
 *   if (flags & XNN_FLAG_SPLIT) config = split_gemm_config(config);
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_SPLIT_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_SPLIT_OPERATOR_H_

#include "xnnpack/config-types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* That of split floats, or `floats` where the processor has no units for them, or may not use
 * them. */
const struct xnn_gemm_config* split_gemm_config(const struct xnn_gemm_config* floats);

#ifdef __cplusplus
}
#endif

#endif /* PETREL_THIRD_PARTY_XNNPACK_SPLIT_OPERATOR_H_ */
