// SPDX-License-Identifier: Apache-2.0
//
// Makers of tensors that ExecuTorch has beside those of extension/tensor: with a device, of
// bytes that are elements of another type, and over the data of another tensor.
//
//   TensorPtr image = from_blob(pixels, {1, 3, 224, 224}, ScalarType::Float,
//                               Device(DeviceType::CPU), [](void* data) { std::free(data); });
//   TensorPtr flat = make_tensor_ptr(image, {1, 3 * 224 * 224});
//
// Null, with the reason in the log, for what extension/tensor refuses and for a device other
// than the CPU; a deleter is called then, too. A tensor over a TensorPtr keeps that; one over
// a Tensor must not outlive its data.
#ifndef PETREL_EXTENSION_PORTING_TENSORS_H_
#define PETREL_EXTENSION_PORTING_TENSORS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "extension/porting/names.h"

namespace petrel::porting::extension {

TensorPtr make_tensor_ptr(
    std::vector<aten::SizesType> sizes, void* data, std::vector<aten::DimOrderType> dim_order,
    std::vector<aten::StridesType> strides, aten::ScalarType type, aten::Device device,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr);
inline TensorPtr make_tensor_ptr(
    std::vector<aten::SizesType> sizes, void* data, aten::ScalarType type, aten::Device device,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND,
    std::function<void(void*)> deleter = nullptr) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, device, dynamism,
                         std::move(deleter));
}

inline TensorPtr from_blob(
    void* data, std::vector<aten::SizesType> sizes, aten::ScalarType type, aten::Device device,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, type, device, dynamism);
}
inline TensorPtr from_blob(
    void* data, std::vector<aten::SizesType> sizes, aten::ScalarType type, aten::Device device,
    std::function<void(void*)> deleter,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, type, device, dynamism, std::move(deleter));
}
inline TensorPtr from_blob(
    void* data, std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides,
    aten::ScalarType type, aten::Device device,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, {}, std::move(strides), type, device, dynamism);
}
inline TensorPtr from_blob(
    void* data, std::vector<aten::SizesType> sizes, std::vector<aten::StridesType> strides,
    aten::ScalarType type, aten::Device device, std::function<void(void*)> deleter,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, {}, std::move(strides), type, device, dynamism,
                         std::move(deleter));
}

// Bytes that are elements of `type`, which is Float when nothing is said, as there.
TensorPtr make_tensor_ptr(
    std::vector<aten::SizesType> sizes, std::vector<uint8_t> data,
    std::vector<aten::DimOrderType> dim_order, std::vector<aten::StridesType> strides,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND);
inline TensorPtr make_tensor_ptr(
    std::vector<aten::SizesType> sizes, std::vector<uint8_t> data,
    aten::ScalarType type = aten::ScalarType::Float,
    aten::TensorShapeDynamism dynamism = aten::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), std::move(data), {}, {}, type, dynamism);
}

// The data of another tensor, with its sizes and order or with others that have no more
// elements.
TensorPtr make_tensor_ptr(const aten::Tensor& tensor, std::vector<aten::SizesType> sizes = {},
                          std::vector<aten::DimOrderType> dim_order = {},
                          std::vector<aten::StridesType> strides = {},
                          std::function<void(void*)> deleter = nullptr);
inline TensorPtr make_tensor_ptr(const TensorPtr& tensor, std::vector<aten::SizesType> sizes = {},
                                 std::vector<aten::DimOrderType> dim_order = {},
                                 std::vector<aten::StridesType> strides = {}) {
  return make_tensor_ptr(*tensor, std::move(sizes), std::move(dim_order), std::move(strides),
                         [tensor](void* /*data*/) {});
}

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_TENSORS_H_
