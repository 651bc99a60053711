// SPDX-License-Identifier: Apache-2.0
//
// TensorPtr: a tensor that owns its sizes and, if wanted, its data. The
// runtime's Tensor is a handle that owns nothing; applications make theirs here.
//
//   TensorPtr image = make_tensor_ptr({1, 3, 224, 224}, std::move(pixels));
//   TensorPtr view = from_blob(camera_buffer, {1, 3, 224, 224});
//   module->forward({image});
//
// Tensors are contiguous. make_tensor_ptr checks that the data has exactly the
// elements that the sizes ask for and returns null otherwise, as it does for
// sizes that are negative or overflow.
#ifndef PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_
#define PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/tensor.h"

namespace petrel::extension {

using TensorPtr = std::shared_ptr<runtime::Tensor>;
using SizesType = runtime::Tensor::SizesType;

// A tensor over memory of the caller, which must stay as long as the tensor.
TensorPtr from_blob(void* data, std::vector<SizesType> sizes,
                    runtime::ScalarType type = runtime::ScalarType::Float);

// A tensor of zeros.
TensorPtr zeros(std::vector<SizesType> sizes,
                runtime::ScalarType type = runtime::ScalarType::Float);

// A tensor with a copy of `nbytes` bytes at `data`.
TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, const void* data, size_t nbytes,
                          runtime::ScalarType type);

template <typename T>
constexpr runtime::ScalarType scalar_type_of();
template <>
constexpr runtime::ScalarType scalar_type_of<float>() {
  return runtime::ScalarType::Float;
}
template <>
constexpr runtime::ScalarType scalar_type_of<double>() {
  return runtime::ScalarType::Double;
}
template <>
constexpr runtime::ScalarType scalar_type_of<int64_t>() {
  return runtime::ScalarType::Long;
}
template <>
constexpr runtime::ScalarType scalar_type_of<int32_t>() {
  return runtime::ScalarType::Int;
}
template <>
constexpr runtime::ScalarType scalar_type_of<int8_t>() {
  return runtime::ScalarType::Char;
}
template <>
constexpr runtime::ScalarType scalar_type_of<uint8_t>() {
  return runtime::ScalarType::Byte;
}

// A tensor with a copy of `data`.
template <typename T>
TensorPtr make_tensor_ptr(std::vector<SizesType> sizes, const std::vector<T>& data) {
  return make_tensor_ptr(std::move(sizes), data.data(), data.size() * sizeof(T),
                         scalar_type_of<T>());
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_
