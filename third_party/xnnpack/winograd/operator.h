/* SPDX-License-Identifier: Apache-2.0
 *
 * Winograd's convolution as a way for XNNPACK's operator of convolutions to compute: called by
 * its functions of the same names where XNN_FLAG_WINOGRAD asks for it (winograd.patch).
 *
 * Invariant: an operator that was created so has that flag; else it was cleared.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_OPERATOR_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/winograd/flag.h"
#include "xnnpack.h"
#include "xnnpack/config-types.h"
#include "xnnpack/microparams.h"
#include "xnnpack/operator.h"

struct winograd_convolution {
  size_t kernel_height, kernel_width;
  size_t stride_height, stride_width;
  size_t dilation_height, dilation_width;
  size_t groups, depth, outputs;
  const float* filter;
  const float* bias;
  const struct xnn_gemm_config* gemm_config;
  const union xnn_f32_minmax_params* bounds;
  bool is_float;
  bool is_made_each_run; /* U, of the filter as it is */
  bool is_large;         /* tiles of 4 x 4 */
};

/* Packs the filter, or finds it in the cache of weights. xnn_status_unsupported_parameter where
 * direct convolution must do it: of other windows, and where a weight is not finite. */
enum xnn_status winograd_create(xnn_operator_t op, const struct winograd_convolution* of);

/* Precondition, here and below: winograd_create() succeeded. */
enum xnn_status winograd_reshape(xnn_operator_t op, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t threads);
enum xnn_status winograd_setup(xnn_operator_t op, void* workspace);

#endif /* PETREL_THIRD_PARTY_XNNPACK_WINOGRAD_OPERATOR_H_ */
