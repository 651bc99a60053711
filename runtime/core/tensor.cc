// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/tensor.h"

#include <cstring>

#include "runtime/core/checked_math.h"
#include "runtime/core/log.h"
#include "runtime/core/result.h"

namespace petrel::runtime {

namespace {

// Whether memory, if there is any, can be that of a tensor.
Error check_place(ScalarType type, size_t bytes, const void* data, size_t capacity) {
  if (data != nullptr && capacity < bytes) {
    PETREL_LOG(Error, "a tensor of %zu bytes was given a buffer of %zu", bytes, capacity);
    return Error::InvalidArgument;
  }
  if (reinterpret_cast<uintptr_t>(data) % element_size(type) != 0) {
    PETREL_LOG(Error, "data of a %s tensor is at %p, must be aligned to %zu bytes", to_string(type),
               data, element_size(type));
    return Error::InvalidArgument;
  }
  return Error::Ok;
}

}  // namespace

TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data,
                       DimOrderType* dim_order, StridesType* strides, TensorShapeDynamism dynamism)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      dim_(static_cast<size_t>(dim)),
      type_(type),
      dynamism_(dynamism) {
  size_t numel = 0;
  size_t bytes = 0;
  consistent_ = dim >= 0 && dim_ <= kTensorDimensionLimit && is_valid(type) &&
                checked_numel(Span<const SizesType>(sizes, dim_), &numel) &&
                checked_nbytes(numel, runtime::element_size(type), &bytes) &&
                (dim_order == nullptr || is_permutation({dim_order, dim_}));
  if (!consistent_) {
    numel = 0;
    bytes = 0;
    dim_ = 0;
  }
  numel_ = numel;
  nbytes_ = bytes;
  is_empty_ = numel == 0;
  bound_ = is_empty_ ? bound_of(this->sizes()) : bytes;
  capacity_ = data == nullptr ? 0 : bytes;
  if (strides_ != nullptr) compute_strides(this->sizes(), this->dim_order(), strides_);
}

bool TensorImpl::is_consistent() const {
  size_t numel = 0;
  return consistent_ && checked_numel(sizes(), &numel) && numel == numel_;
}

Error TensorImpl::set_data(void* data, size_t capacity) {
  if (data == nullptr) {
    data_ = nullptr;
    capacity_ = 0;
    return Error::Ok;
  }
  PETREL_RETURN_IF_ERROR(check_place(type_, nbytes_, data, capacity));
  data_ = data;
  capacity_ = capacity;
  return Error::Ok;
}

Error TensorImpl::resize(Span<const SizesType> new_sizes) {
  size_t numel = 0;
  PETREL_RETURN_IF_ERROR(check_resize(new_sizes, capacity_, &numel));
  apply_sizes(new_sizes, numel);
  return Error::Ok;
}

Error TensorImpl::rebind(Span<const SizesType> new_sizes, void* data, size_t capacity) {
  size_t numel = 0;
  PETREL_RETURN_IF_ERROR(check_resize(new_sizes, SIZE_MAX, &numel));
  const size_t bytes = numel * element_size();
  PETREL_RETURN_IF_ERROR(check_place(type_, bytes, data, capacity));
  apply_sizes(new_sizes, numel);
  data_ = data;
  capacity_ = data == nullptr ? 0 : capacity;
  return Error::Ok;
}

size_t TensorImpl::bound_of(Span<const SizesType> sizes) const {
  size_t extent = 0;
  size_t bytes = 0;
  const bool fits = checked_extent(sizes, &extent) && checked_mul(extent, element_size(), &bytes);
  return fits ? bytes : SIZE_MAX;
}

Error TensorImpl::check_resize(Span<const SizesType> new_sizes, size_t capacity,
                               size_t* numel) const {
  if (new_sizes.size() != dim_) {
    PETREL_LOG(Error, "a tensor of rank %zu cannot be resized to rank %zu", dim_, new_sizes.size());
    return Error::NotSupported;
  }
  if (equal(sizes(), new_sizes)) {
    *numel = numel_;
    return Error::Ok;
  }
  if (dynamism_ == TensorShapeDynamism::STATIC) {
    for (size_t i = 0; i < dim_; ++i) {
      if (sizes_[i] == new_sizes[i]) continue;
      PETREL_LOG(Error, "dim %zu of a tensor of fixed sizes is %d, cannot become %d", i, sizes_[i],
                 new_sizes[i]);
      break;
    }
    return Error::NotSupported;
  }
  const size_t most = is_empty_ ? 0 : bound_;
  const size_t room = capacity < most ? capacity : most;
  size_t bytes = 0;
  if (!checked_numel(new_sizes, numel) || !checked_nbytes(*numel, element_size(), &bytes) ||
      bytes > room || bound_of(new_sizes) > bound_) {
    PETREL_LOG(Error, "new sizes of a tensor need more than the %zu bytes it has room for", room);
    return Error::NotSupported;
  }
  return Error::Ok;
}

void TensorImpl::apply_sizes(Span<const SizesType> new_sizes, size_t numel) {
  if (dynamism_ == TensorShapeDynamism::STATIC) return;  // Checked to be equal.
  for (size_t i = 0; i < dim_; ++i) sizes_[i] = new_sizes[i];
  numel_ = numel;
  nbytes_ = numel * element_size();
  if (strides_ != nullptr) compute_strides(sizes(), dim_order(), strides_);
}

Error check_same_bytes(const Tensor& from, const Tensor& to) {
  if (from.nbytes() == to.nbytes()) return Error::Ok;
  PETREL_LOG(Error, "a tensor of %zu bytes cannot be copied to one of %zu", from.nbytes(),
             to.nbytes());
  return Error::InvalidArgument;
}

Error copy_bytes(const Tensor& from, const Tensor& to) {
  PETREL_RETURN_IF_ERROR(check_same_bytes(from, to));
  if (to.nbytes() == 0) return Error::Ok;
  if (from.const_data_ptr() == nullptr || to.const_data_ptr() == nullptr) {
    PETREL_LOG(Error, "a tensor of %zu bytes without data cannot be copied%s", to.nbytes(),
               from.const_data_ptr() == nullptr ? "" : " to");
    return Error::InvalidArgument;
  }
  std::memmove(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  return Error::Ok;
}

bool is_contiguous_dim_order(Span<const TensorImpl::DimOrderType> dim_order) {
  for (size_t i = 0; i < dim_order.size(); ++i) {
    if (dim_order[i] != i) return false;
  }
  return true;
}

bool is_permutation(Span<const TensorImpl::DimOrderType> dim_order) {
  static_assert(kTensorDimensionLimit <= 32, "the bits of `seen`");
  uint32_t seen = 0;
  if (dim_order.size() > kTensorDimensionLimit) return false;
  for (const uint8_t d : dim_order) {
    if (d >= dim_order.size() || (seen & (uint32_t{1} << d)) != 0) return false;
    seen |= uint32_t{1} << d;
  }
  return true;
}

void compute_strides(Span<const TensorImpl::SizesType> sizes,
                     Span<const TensorImpl::DimOrderType> dim_order,
                     TensorImpl::StridesType* out_strides) {
  TensorImpl::StridesType stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const size_t d = dim_order.empty() ? i : dim_order[i];
    out_strides[d] = stride;
    if (sizes[d] > 1) stride *= sizes[d];
  }
}

}  // namespace petrel::runtime
