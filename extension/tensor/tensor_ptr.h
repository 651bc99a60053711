// SPDX-License-Identifier: Apache-2.0
//
// TensorPtr: a tensor that owns its sizes and, if wanted, its data. The
// runtime's Tensor is a handle that owns nothing; applications make theirs here.
//
//   TensorPtr image = make_tensor_ptr({1, 3, 224, 224}, std::move(pixels));
//   TensorPtr view = from_blob(camera_buffer, {1, 3, 224, 224});
//   TensorPtr scale = make_tensor_ptr({2, 2}, {1.0f, 0.5f, 0.5f, 1.0f});
//   module->forward({image});
//
// Tensors are dense. The functions check that the data has exactly the elements
// that the sizes ask for, and that dim order and strides are those of a dense tensor.
// They log what is wrong and return null otherwise, as they do for sizes that are
// negative or overflow. filled.h makes tensors of one number.
#ifndef PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_
#define PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/core/tensor.h"

namespace petrel::extension {

using TensorPtr = std::shared_ptr<runtime::Tensor>;
using SizesType = runtime::Tensor::SizesType;
using DimOrderType = runtime::Tensor::DimOrderType;
using StridesType = runtime::Tensor::StridesType;

// Called with the data when nobody uses it any more.
using DataDeleter = std::function<void(void*)>;

// Types of elements beside the numbers of C++ name theirs: T::kScalarType.
template <typename T, typename = void>
inline constexpr bool kNamesItsType = false;
template <typename T>
inline constexpr bool kNamesItsType<T, std::void_t<decltype(T::kScalarType)>> = true;

template <typename T>
constexpr runtime::ScalarType scalar_type_of() {
  using runtime::ScalarType;
  if constexpr (kNamesItsType<T>) return T::kScalarType;
  if constexpr (std::is_same_v<T, float>) return ScalarType::Float;
  if constexpr (std::is_same_v<T, double>) return ScalarType::Double;
  if constexpr (std::is_same_v<T, bool>) return ScalarType::Bool;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr ScalarType kSigned[] = {ScalarType::Char, ScalarType::Short, ScalarType::Int,
                                      ScalarType::Long};
    constexpr ScalarType kUnsigned[] = {ScalarType::Byte, ScalarType::UInt16, ScalarType::UInt32,
                                        ScalarType::UInt64};
    constexpr size_t kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kLog] : kUnsigned[kLog];
  }
  static_assert(kNamesItsType<T> || (std::is_arithmetic_v<T> && !std::is_same_v<T, long double>));
}

// A tensor over memory of the caller, which must stay as long as the tensor. Empty
// dim_order and strides mean contiguous; either of them follows from the other.
TensorPtr make_tensor_ptr(
    std::vector<SizesType> sizes, void* data, std::vector<DimOrderType> dim_order,
    std::vector<StridesType> strides, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND,
    DataDeleter deleter = nullptr);

inline TensorPtr make_tensor_ptr(
    std::vector<SizesType> sizes, void* data, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND,
    DataDeleter deleter = nullptr) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, dynamism, std::move(deleter));
}

inline TensorPtr from_blob(
    void* data, std::vector<SizesType> sizes, runtime::ScalarType type = runtime::ScalarType::Float,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, dynamism);
}
inline TensorPtr from_blob(
    void* data, std::vector<SizesType> sizes, runtime::ScalarType type, DataDeleter deleter,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, {}, {}, type, dynamism, std::move(deleter));
}
inline TensorPtr from_blob(
    void* data, std::vector<SizesType> sizes, std::vector<StridesType> strides,
    runtime::ScalarType type = runtime::ScalarType::Float, DataDeleter deleter = nullptr,
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr(std::move(sizes), data, {}, std::move(strides), type, dynamism,
                         std::move(deleter));
}

// A tensor with a copy of `nbytes` bytes at `data`.
TensorPtr tensor_of_bytes(
    std::vector<SizesType> sizes, const void* data, size_t nbytes, runtime::ScalarType type,
    std::vector<DimOrderType> dim_order = {}, std::vector<StridesType> strides = {},
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND);

// A tensor of type `type` with the numbers of `from`, converted as C++ does it. Null,
// with the reason in the log, for element types that C++ has no numbers of.
TensorPtr clone_tensor_ptr(const runtime::Tensor& from, runtime::ScalarType type);
inline TensorPtr clone_tensor_ptr(const runtime::Tensor& from) {
  return clone_tensor_ptr(from, from.scalar_type());
}
inline TensorPtr clone_tensor_ptr(const TensorPtr& from) { return clone_tensor_ptr(*from); }
inline TensorPtr clone_tensor_ptr(const TensorPtr& from, runtime::ScalarType type) {
  return clone_tensor_ptr(*from, type);
}

// Other sizes within the memory that the tensor was made with.
inline runtime::Error resize_tensor_ptr(const TensorPtr& tensor,
                                        const std::vector<SizesType>& sizes) {
  return tensor->impl()->resize({sizes.data(), sizes.size()});
}

// A tensor with a copy of `data`, converted to `type` where that is another one.
template <typename T>
TensorPtr make_tensor_ptr(
    std::vector<SizesType> sizes, const std::vector<T>& data,
    std::vector<DimOrderType> dim_order = {}, std::vector<StridesType> strides = {},
    runtime::ScalarType type = scalar_type_of<T>(),
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bools in memory");
  TensorPtr made =
      tensor_of_bytes(std::move(sizes), data.data(), data.size() * sizeof(T), scalar_type_of<T>(),
                      std::move(dim_order), std::move(strides), dynamism);
  if (made == nullptr || type == scalar_type_of<T>()) return made;
  return clone_tensor_ptr(*made, type);
}
template <typename T>
TensorPtr make_tensor_ptr(
    std::vector<SizesType> sizes, std::initializer_list<T> data,
    std::vector<DimOrderType> dim_order = {}, std::vector<StridesType> strides = {},
    runtime::ScalarType type = scalar_type_of<T>(),
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  TensorPtr made =
      tensor_of_bytes(std::move(sizes), data.begin(), data.size() * sizeof(T), scalar_type_of<T>(),
                      std::move(dim_order), std::move(strides), dynamism);
  if (made == nullptr || type == scalar_type_of<T>()) return made;
  return clone_tensor_ptr(*made, type);
}

// A tensor of one dim.
template <typename T>
TensorPtr make_tensor_ptr(
    const std::vector<T>& data, runtime::ScalarType type = scalar_type_of<T>(),
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr({static_cast<SizesType>(data.size())}, data, {}, {}, type, dynamism);
}
template <typename T>
TensorPtr make_tensor_ptr(
    std::initializer_list<T> data, runtime::ScalarType type = scalar_type_of<T>(),
    runtime::TensorShapeDynamism dynamism = runtime::TensorShapeDynamism::DYNAMIC_BOUND) {
  return make_tensor_ptr({static_cast<SizesType>(data.size())}, data, {}, {}, type, dynamism);
}

// A tensor without dims.
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> || kNamesItsType<T>>>
TensorPtr make_tensor_ptr(T number) {
  return tensor_of_bytes({}, &number, sizeof number, scalar_type_of<T>());
}

}  // namespace petrel::extension

#endif  // PETREL_EXTENSION_TENSOR_TENSOR_PTR_H_
