/* SPDX-License-Identifier: Apache-2.0
 *
 * Products with weights as they are stored as a way for XNNPACK's operator of fully connected
 * layers to compute: called by its functions of the same names where XNN_FLAG_UNPACKED asks for it
 * (unpacked.patch).
 */
#ifndef PETREL_THIRD_PARTY_XNNPACK_UNPACKED_OPERATOR_H_
#define PETREL_THIRD_PARTY_XNNPACK_UNPACKED_OPERATOR_H_

#include "third_party/xnnpack/unpacked/flag.h"
#include "xnnpack.h"
#include "xnnpack/operator.h"

/* Weights [outputs, inputs] in the order of the flags of a product whose weights are not
 * transposed. Precondition: XNNPACK is initialised, the bounds are in order. */
enum xnn_status unpacked_create(size_t inputs, size_t outputs, size_t input_stride,
                                size_t output_stride, const float* weights, const float* bias,
                                float low, float high, uint32_t flags, xnn_operator_t* op);

/* Precondition: the operator was created so. */
enum xnn_status unpacked_reshape(xnn_operator_t op, size_t rows, size_t threads);
enum xnn_status unpacked_setup(xnn_operator_t op, const float* input, float* output);

#endif /* PETREL_THIRD_PARTY_XNNPACK_UNPACKED_OPERATOR_H_ */
