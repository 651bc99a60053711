// SPDX-License-Identifier: Apache-2.0
//
// Numbers of tensors by their element types.
//
//   if (!convert_numbers(*floats, *doubles)) ...       // the log says why
//
// For the element types that C++ has numbers of; false for others, such as Half.
#ifndef PETREL_EXTENSION_TENSOR_NUMBERS_H_
#define PETREL_EXTENSION_TENSOR_NUMBERS_H_

#include "runtime/core/evalue.h"
#include "runtime/core/tensor.h"

namespace petrel::extension {

// Writes the elements of `from`, which has as many and lies likewise, to `to`. A float
// that no integer of the type is becomes 0; a bool is whether a number is not 0.
bool convert_numbers(const runtime::Tensor& from, const runtime::Tensor& to);

// Writes `number` to each element.
bool fill_numbers(runtime::Scalar number, const runtime::Tensor& to);

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_TENSOR_NUMBERS_H_
