// SPDX-License-Identifier: Apache-2.0
//
// TensorAccessor: elements of a contiguous tensor by their places in its N dims.
//
//   Result<TensorAccessor<float, 2>> scores = make_tensor_accessor<float, 2>(tensor);
//   if (scores.ok()) scores.get()[0][3] = 0.5f;
//
// Owns nothing: the tensor's data and sizes must stay. Places are not checked.
#ifndef PETREL_EXTENSION_PORTING_TENSOR_ACCESSOR_H_
#define PETREL_EXTENSION_PORTING_TENSOR_ACCESSOR_H_

#include <sys/types.h>

#include <type_traits>

#include "extension/porting/names.h"
#include "runtime/core/log.h"

namespace petrel::porting::extension {

template <typename T, ssize_t N>
class TensorAccessor final {
 public:
  // `stride` is that of the first dim.
  TensorAccessor(T* data, const aten::SizesType* sizes, aten::StridesType stride)
      : data_(data), sizes_(sizes), stride_(stride) {}

  decltype(auto) operator[](ssize_t i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[i]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * stride_, sizes_ + 1, stride(1));
    }
  }
  // 0 <= i < N.
  aten::SizesType size(ssize_t i) const { return sizes_[i]; }
  aten::StridesType stride(ssize_t i) const {
    aten::StridesType stride = 1;
    for (ssize_t d = N - 1; d > i; --d) stride *= sizes_[d];
    return stride;
  }

 private:
  T* data_;
  const aten::SizesType* sizes_;
  aten::StridesType stride_;
};

// InvalidArgument for a tensor of another rank, or whose elements have another size;
// NotSupported for one that is not contiguous.
template <typename T, ssize_t N>
runtime::Result<TensorAccessor<T, N>> make_tensor_accessor(const aten::Tensor& tensor) {
  static_assert(N > 0);
  if (tensor.dim() != N || tensor.element_size() != sizeof(T)) {
    PETREL_LOG(Error, "tensor has rank %zd and elements of %zu bytes, must have %zd and %zu",
               tensor.dim(), tensor.element_size(), N, sizeof(T));
    return runtime::Error::InvalidArgument;
  }
  if (!::petrel::runtime::is_contiguous_dim_order(tensor.dim_order())) {
    PETREL_LOG(Error, "tensor is not contiguous, which an accessor asks for");
    return runtime::Error::NotSupported;
  }
  auto* const data = [&] {
    if constexpr (std::is_const_v<T>) return tensor.const_data_ptr<std::remove_const_t<T>>();
    if constexpr (!std::is_const_v<T>) return tensor.mutable_data_ptr<T>();
  }();
  const TensorAccessor<T, N> strides(data, tensor.sizes().data(), 0);
  return TensorAccessor<T, N>(data, tensor.sizes().data(), strides.stride(0));
}

}  // namespace petrel::porting::extension

#endif  // PETREL_EXTENSION_PORTING_TENSOR_ACCESSOR_H_
