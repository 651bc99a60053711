// SPDX-License-Identifier: Apache-2.0
//
// Tensor: a handle to a TensorImpl, which describes a dense array. Neither
// owns anything: sizes, dim_order, strides, data and the TensorImpl itself
// belong to whoever made them (a Method, or the application).
//
//   int32_t sizes[] = {2, 3};
//   float data[6] = {};
//   TensorImpl impl(ScalarType::Float, 2, sizes, data);
//   method->set_input(Tensor(&impl), 0);
//
// dim_order lists the dimensions from the outermost to the innermost in
// memory; strides count elements and follow from sizes and dim_order:
//
//   sizes [1, 3, 4, 5]   dim_order 0 1 2 3   strides 60 20 5 1   contiguous
//                        dim_order 0 2 3 1   strides 60 1 15 3   channels last
//
// The invariant that keeps kernels inside memory: nbytes() never exceeds the
// number of bytes that data points to. Resizing checks it, and so does binding
// data to a tensor. Without data there are no bytes, so such a tensor may have
// the sizes that it was made with, which no kernel takes, or fewer elements
// than any memory is needed for.

#ifndef PETREL_RUNTIME_CORE_TENSOR_H_
#define PETREL_RUNTIME_CORE_TENSOR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/core/error.h"
#include "runtime/core/scalar_type.h"
#include "runtime/core/span.h"
#include "schema/formats.h"

namespace petrel::runtime {

// Largest rank.
inline constexpr size_t kTensorDimensionLimit = schema::kMaxRank;

enum class TensorShapeDynamism : uint8_t {
  STATIC = 0,
  // The sizes may change within the memory that the first ones need.
  DYNAMIC_BOUND = 1,
  DYNAMIC_UNBOUND = 2,
};

class TensorImpl final {
 public:
  using SizesType = int32_t;
  using DimOrderType = uint8_t;
  using StridesType = int64_t;

  // A tensor of rank 0 and type Byte without data.
  constexpr TensorImpl() = default;

  // `data` must have room for the tensor, or be null. Null dim_order means
  // contiguous. Null strides are allowed for tensors that are only passed to
  // Method::set_input. Sizes whose product overflows give a tensor of no
  // elements, which every use refuses (see is_consistent).
  TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data = nullptr,
             DimOrderType* dim_order = nullptr, StridesType* strides = nullptr,
             TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);

  ScalarType scalar_type() const { return type_; }
  size_t element_size() const { return runtime::element_size(type_); }
  ssize_t dim() const { return static_cast<ssize_t>(dim_); }
  size_t numel() const { return numel_; }
  size_t nbytes() const { return nbytes_; }
  ssize_t size(ssize_t d) const { return sizes_[d]; }
  Span<const SizesType> sizes() const { return {sizes_, dim_}; }
  // Empty when none was given (contiguous).
  Span<const DimOrderType> dim_order() const {
    return {dim_order_, dim_order_ == nullptr ? 0 : dim_};
  }
  Span<const StridesType> strides() const { return {strides_, strides_ == nullptr ? 0 : dim_}; }
  TensorShapeDynamism shape_dynamism() const { return dynamism_; }

  const void* data() const { return data_; }
  void* mutable_data() const { return data_; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(data_);
  }

  // Bytes that data points to, at least nbytes() while data is not null; 0
  // without data.
  size_t capacity() const { return capacity_; }

  // True for data that must not be written: constants of a program, which may
  // lie in read-only memory. Kernels and backends refuse such outputs.
  bool is_constant() const { return is_constant_; }
  void set_constant(bool is_constant) { is_constant_ = is_constant; }

  // False if the sizes were refused by the constructor, or are others by now: the list is
  // the caller's, and another tensor over it may have been resized.
  bool is_consistent() const;

  // Points the tensor at `capacity` bytes; null unbinds it. InvalidArgument if
  // they are fewer than nbytes() or misaligned for the element type.
  Error set_data(void* data, size_t capacity);

  // Changes the sizes, keeping rank and dim_order, and the strides with them.
  // NotSupported if the tensor is static and the sizes differ, if they need
  // more memory than the tensor was made with, or more than its data has: other
  // sizes that have elements need data. Sizes of 0 count as 1 there: a loop over
  // the others must not become longer because one is 0.
  Error resize(Span<const SizesType> new_sizes);

  // resize() and set_data() in one, for data that replaces the current one.
  Error rebind(Span<const SizesType> new_sizes, void* data, size_t capacity);

 private:
  Error check_resize(Span<const SizesType> new_sizes, size_t capacity, size_t* numel) const;
  size_t bound_of(Span<const SizesType> sizes) const;
  void apply_sizes(Span<const SizesType> new_sizes, size_t numel);

  SizesType* sizes_ = nullptr;
  DimOrderType* dim_order_ = nullptr;
  StridesType* strides_ = nullptr;
  void* data_ = nullptr;
  size_t dim_ = 0;
  size_t numel_ = 1;
  size_t nbytes_ = 1;
  // Bytes of the sizes that the tensor was made with, where 0 counts as 1.
  size_t bound_ = 1;
  size_t capacity_ = 0;
  ScalarType type_ = ScalarType::Byte;
  TensorShapeDynamism dynamism_ = TensorShapeDynamism::STATIC;
  bool is_constant_ = false;
  bool consistent_ = true;
  // Made without elements, so it never has any.
  bool is_empty_ = false;
};

class Tensor final {
 public:
  using SizesType = TensorImpl::SizesType;
  using DimOrderType = TensorImpl::DimOrderType;
  using StridesType = TensorImpl::StridesType;

  // Does not own `impl`, which must not be null and must outlive the handle.
  explicit constexpr Tensor(TensorImpl* impl) : impl_(impl) {}

  ScalarType scalar_type() const { return impl_->scalar_type(); }
  ScalarType dtype() const { return scalar_type(); }
  size_t element_size() const { return impl_->element_size(); }
  ssize_t dim() const { return impl_->dim(); }
  size_t numel() const { return impl_->numel(); }
  size_t nbytes() const { return impl_->nbytes(); }
  // 0 <= d < dim().
  ssize_t size(ssize_t d) const { return impl_->size(d); }
  Span<const SizesType> sizes() const { return impl_->sizes(); }
  Span<const DimOrderType> dim_order() const { return impl_->dim_order(); }
  Span<const StridesType> strides() const { return impl_->strides(); }
  TensorShapeDynamism shape_dynamism() const { return impl_->shape_dynamism(); }
  bool is_constant() const { return impl_->is_constant(); }

  const void* const_data_ptr() const { return impl_->data(); }
  void* mutable_data_ptr() const { return impl_->mutable_data(); }
  template <typename T>
  const T* const_data_ptr() const {
    return impl_->data<T>();
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return impl_->mutable_data<T>();
  }
  // Other names of these.
  void* data_ptr() const { return mutable_data_ptr(); }
  template <typename T>
  T* data_ptr() const {
    return mutable_data_ptr<T>();
  }

  TensorImpl* impl() const { return impl_; }
  TensorImpl* unsafeGetTensorImpl() const { return impl_; }

 private:
  TensorImpl* impl_;
};

// True if dim_order is 0, 1, 2, ... (or was not given).
bool is_contiguous_dim_order(Span<const TensorImpl::DimOrderType> dim_order);

// True if dim_order holds each of 0 .. size-1 once.
bool is_permutation(Span<const TensorImpl::DimOrderType> dim_order);

// Writes the strides of a dense tensor. Sizes of 0 count as 1, so that strides
// are those PyTorch computes. An empty dim_order means contiguous; otherwise
// it must be a permutation. The product of the sizes must not overflow.
void compute_strides(Span<const TensorImpl::SizesType> sizes,
                     Span<const TensorImpl::DimOrderType> dim_order,
                     TensorImpl::StridesType* out_strides);

// InvalidArgument unless both have as many bytes. Equal sizes do not say so: a list of sizes
// that two tensors share is changed by whichever is resized.
Error check_same_bytes(const Tensor& from, const Tensor& to);

// Copies all elements to a tensor that has as many bytes; the two may share memory.
// InvalidArgument, and nothing is copied, where one has no data or others.
Error copy_bytes(const Tensor& from, const Tensor& to);

// Tensor::resize by another name: kernels set the sizes of their output so.
inline Error resize_tensor(Tensor tensor, Span<const Tensor::SizesType> new_sizes) {
  return tensor.impl()->resize(new_sizes);
}

}  // namespace petrel::runtime

#endif  // PETREL_RUNTIME_CORE_TENSOR_H_
