// SPDX-License-Identifier: Apache-2.0
//
// Tensors that own memory with one number in it.
//
//   TensorPtr mask = ones({1, 128}, ScalarType::Bool);
//   TensorPtr half = full({2, 2}, 0.5);
//   TensorPtr same = zeros_like(half);
//
// Null, with the reason in the log, for sizes that cannot be, and for element types
// that C++ has no numbers of, but for zeros and empty.
#ifndef PETREL_EXTENSION_TENSOR_FILLED_H_
#define PETREL_EXTENSION_TENSOR_FILLED_H_

#include <utility>
#include <vector>

#include "extension/tensor/tensor_ptr.h"
#include "runtime/core/evalue.h"

namespace petrel::extension {

TensorPtr zeros(
    std::vector<SizesType> sizes, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND);

TensorPtr full(std::vector<SizesType> sizes, runtime::Scalar number,
               runtime::ScalarType type = runtime::ScalarType::Float,
               runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND);

inline TensorPtr ones(
    std::vector<SizesType> sizes, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return full(std::move(sizes), runtime::Scalar(int64_t{1}), type, dynamism);
}

// What it holds is not said; today zeros.
inline TensorPtr empty(
    std::vector<SizesType> sizes, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return zeros(std::move(sizes), type, dynamism);
}

inline TensorPtr scalar_tensor(runtime::Scalar number,
                               runtime::ScalarType type = runtime::ScalarType::Float) {
  return full({}, number, type);
}

// Contiguous, with sizes and type of another tensor.
inline std::vector<SizesType> sizes_of(const TensorPtr& tensor) {
  return {tensor->sizes().begin(), tensor->sizes().end()};
}
inline TensorPtr zeros_like(const TensorPtr& other) {
  return zeros(sizes_of(other), other->scalar_type());
}
inline TensorPtr ones_like(const TensorPtr& other) {
  return ones(sizes_of(other), other->scalar_type());
}
inline TensorPtr empty_like(const TensorPtr& other) {
  return empty(sizes_of(other), other->scalar_type());
}
inline TensorPtr full_like(const TensorPtr& other, runtime::Scalar number) {
  return full(sizes_of(other), number, other->scalar_type());
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_TENSOR_FILLED_H_
