// SPDX-License-Identifier: Apache-2.0
//
// TensorPtrMaker: what a tensor over memory of the caller is, said step by step.
//
//   TensorPtr image = for_blob(pixels, {1, 3, 224, 224})
//                         .dim_order({0, 2, 3, 1})
//                         .deleter([](void* data) { std::free(data); })
//                         .make_tensor_ptr();
//
// Owns nothing; the tensor is null, with the reason in the log, where make_tensor_ptr()
// of extension/tensor says so.
#ifndef PETREL_EXTENSION_PORTING_TENSOR_PTR_MAKER_H_
#define PETREL_EXTENSION_PORTING_TENSOR_PTR_MAKER_H_

#include <utility>
#include <vector>

#include "extension/tensor/tensor_ptr.h"

namespace petrel::porting::extension {

class TensorPtrMaker final {
 public:
  TensorPtrMaker&& type(::petrel::runtime::ScalarType type) {
    type_ = type;
    return std::move(*this);
  }
  TensorPtrMaker&& dim_order(std::vector<::petrel::extension::DimOrderType> dim_order) {
    dim_order_ = std::move(dim_order);
    return std::move(*this);
  }
  TensorPtrMaker&& strides(std::vector<::petrel::extension::StridesType> strides) {
    strides_ = std::move(strides);
    return std::move(*this);
  }
  TensorPtrMaker&& dynamism(::petrel::runtime::TensorShapeDynamism dynamism) {
    dynamism_ = dynamism;
    return std::move(*this);
  }
  TensorPtrMaker&& deleter(::petrel::extension::DataDeleter deleter) {
    deleter_ = std::move(deleter);
    return std::move(*this);
  }
  ::petrel::extension::TensorPtr make_tensor_ptr() && {
    return ::petrel::extension::make_tensor_ptr(std::move(sizes_), data_, std::move(dim_order_),
                                                std::move(strides_), type_, dynamism_,
                                                std::move(deleter_));
  }

 private:
  friend TensorPtrMaker for_blob(void* data, std::vector<::petrel::extension::SizesType> sizes,
                                 ::petrel::runtime::ScalarType type);
  TensorPtrMaker(void* data, std::vector<::petrel::extension::SizesType> sizes,
                 ::petrel::runtime::ScalarType type)
      : data_(data), sizes_(std::move(sizes)), type_(type) {}

  void* data_;
  std::vector<::petrel::extension::SizesType> sizes_;
  std::vector<::petrel::extension::DimOrderType> dim_order_;
  std::vector<::petrel::extension::StridesType> strides_;
  ::petrel::runtime::ScalarType type_;
  ::petrel::runtime::TensorShapeDynamism dynamism_ =
      ::petrel::runtime::TensorShapeDynamism::DYNAMIC_BOUND;
  ::petrel::extension::DataDeleter deleter_;
};

inline TensorPtrMaker for_blob(
    void* data, std::vector<::petrel::extension::SizesType> sizes,
    ::petrel::runtime::ScalarType type = ::petrel::runtime::ScalarType::Float) {
  return {data, std::move(sizes), type};
}

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_TENSOR_PTR_MAKER_H_
