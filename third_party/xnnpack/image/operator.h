/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of images as a way for XNNPACK's operator of convolutions to compute: called by its
 * functions of the same names where XNN_FLAG_IMAGE asks for it (image.patch). The filter is packed
 * as for pointers.
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_

#include <stdbool.h>
#include <stddef.h>

#include "third_party/xnnpack/image/flag.h"
#include "xnnpack.h"
#include "xnnpack/operator.h"

/* Whether an operator that was created with XNN_FLAG_IMAGE can be computed so. */
bool image_is_possible(xnn_operator_t op);

/* Precondition, here and below: image_is_possible(). */
enum xnn_status image_reshape(xnn_operator_t op, size_t* workspace_size,
                              size_t* workspace_alignment, size_t threads);
enum xnn_status image_setup(xnn_operator_t op, void* workspace);

#endif /* PETREL_THIRD_PARTY_XNNPACK_IMAGE_OPERATOR_H_ */
