/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of images as a way for XNNPACK's operator of convolutions to compute: called by its
 * functions of the same names where XNN_FLAG_IMAGE asks for it (image.patch). Filters of floats are
 * packed as for pointers, those of int8 as if a window was one pixel with all its channels.
 *
 * Invariant: an operator that was created so has that flag; else it was cleared.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "third_party/xnnpack/image/flag.h"
#include "xnnpack.h"
#include "xnnpack/config-types.h"
#include "xnnpack/microkernel-type.h"
#include "xnnpack/operator-type.h"
#include "xnnpack/operator.h"

struct image_convolution {
  enum xnn_operator_type type;
  enum xnn_microkernel_type kernel_type;
  size_t groups, channels; /* of the input */
  size_t dilation_height, dilation_width;
  const struct xnn_gemm_config* gemm_config;
};

bool image_is_possible(const struct image_convolution* of);

/* Whether filters are packed as of one pixel. */
bool image_joins_taps(uint32_t flags, enum xnn_operator_type type);

/* Precondition: the operator was created with XNN_FLAG_IMAGE. */
enum xnn_status image_reshape(xnn_operator_t op, size_t* workspace_size,
                              size_t* workspace_alignment, size_t threads);
enum xnn_status image_setup(xnn_operator_t op, void* workspace);

#endif /* PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_ */
