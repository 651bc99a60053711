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

#include <functional>
#include <utility>
#include <vector>

#include "extension/porting/tensors.h"

namespace petrel::porting::extension {

class TensorPtrMaker final {
 public:
  TensorPtrMaker&& type(aten::ScalarType type) {
    type_ = type;
    return std::move(*this);
  }
  TensorPtrMaker&& dim_order(std::vector<aten::DimOrderType> dim_order) {
    dim_order_ = std::move(dim_order);
    return std::move(*this);
  }
  TensorPtrMaker&& strides(std::vector<aten::StridesType> strides) {
    strides_ = std::move(strides);
    return std::move(*this);
  }
  TensorPtrMaker&& dynamism(aten::TensorShapeDynamism dynamism) {
    dynamism_ = dynamism;
    return std::move(*this);
  }
  TensorPtrMaker&& deleter(std::function<void(void*)> deleter) {
    deleter_ = std::move(deleter);
    return std::move(*this);
  }
  TensorPtrMaker&& device(aten::Device device) {
    device_ = device;
    return std::move(*this);
  }
  TensorPtr make_tensor_ptr() && {
    return extension::make_tensor_ptr(std::move(sizes_), data_, std::move(dim_order_),
                                      std::move(strides_), type_, device_, dynamism_,
                                      std::move(deleter_));
  }
  operator TensorPtr() && { return std::move(*this).make_tensor_ptr(); }

 private:
  friend TensorPtrMaker for_blob(void* data, std::vector<aten::SizesType> sizes,
                                 aten::ScalarType type);
  TensorPtrMaker(void* data, std::vector<aten::SizesType> sizes, aten::ScalarType type)
      : data_(data), sizes_(std::move(sizes)), type_(type) {}

  void* data_;
  std::vector<aten::SizesType> sizes_;
  std::vector<aten::DimOrderType> dim_order_;
  std::vector<aten::StridesType> strides_;
  aten::ScalarType type_;
  aten::TensorShapeDynamism dynamism_ = aten::TensorShapeDynamism::DYNAMIC_BOUND;
  aten::Device device_{aten::DeviceType::CPU};
  std::function<void(void*)> deleter_;
};

inline TensorPtrMaker for_blob(void* data, std::vector<aten::SizesType> sizes,
                               aten::ScalarType type = aten::ScalarType::Float) {
  return {data, std::move(sizes), type};
}

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_TENSOR_PTR_MAKER_H_
