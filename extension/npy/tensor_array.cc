// SPDX-License-Identifier: Apache-2.0
#include "extension/npy/tensor_array.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/core/checked_math.h"

namespace petrel::extension {

using runtime::Span;
using runtime::Tensor;
using runtime::TensorImpl;

namespace {

// Copies elements of `size` bytes between two dense layouts of one shape.
void reorder(const uint8_t* from, const std::vector<int64_t>& from_strides, uint8_t* to,
             const std::vector<int64_t>& to_strides, Span<const int32_t> sizes, size_t size) {
  size_t numel = 1;
  for (const int32_t s : sizes) numel *= static_cast<size_t>(s);
  if (from_strides == to_strides) {
    if (numel > 0) std::memcpy(to, from, numel * size);
    return;
  }
  std::vector<int32_t> index(sizes.size(), 0);
  for (size_t n = 0; n < numel; ++n) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      a += index[d] * from_strides[d];
      b += index[d] * to_strides[d];
    }
    std::memcpy(to + static_cast<size_t>(b) * size, from + static_cast<size_t>(a) * size, size);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

std::vector<int64_t> dense_strides(Span<const int32_t> sizes, Span<const uint8_t> dim_order) {
  std::vector<int64_t> strides(sizes.size());
  runtime::compute_strides(sizes, dim_order, strides.data());
  return strides;
}

// Shape and bytes may come from two places of a file.
bool has_its_bytes(const NpyArray& array) {
  size_t numel = 0, bytes = 0;
  return runtime::checked_numel(Span<const int64_t>(array.shape.data(), array.shape.size()),
                                &numel) &&
         runtime::checked_nbytes(numel, runtime::element_size(array.type), &bytes) &&
         bytes == array.data.size() &&
         std::all_of(array.shape.begin(), array.shape.end(),
                     [](int64_t size) { return size <= INT32_MAX; });
}

}  // namespace

ArrayTensor::ArrayTensor(const NpyArray& array, Span<const uint8_t> dim_order)
    : sizes_(array.shape.begin(), array.shape.end()),
      dim_order_(dim_order.begin(), dim_order.end()) {
  const Span<const int32_t> dims(sizes_);
  strides_ = dense_strides(dims, Span<const uint8_t>(dim_order_));
  memory_.resize(array.data.size() / sizeof(uint64_t) + 1);
  reorder(array.data.data(), dense_strides(dims, {}), reinterpret_cast<uint8_t*>(memory_.data()),
          strides_, dims, runtime::element_size(array.type));
  impl_ = TensorImpl(array.type, static_cast<ssize_t>(sizes_.size()), sizes_.data(), nullptr,
                     dim_order_.data(), strides_.data());
}

absl::StatusOr<std::shared_ptr<ArrayTensor>> ArrayTensor::make(const NpyArray& array,
                                                               Span<const uint8_t> dim_order) {
  if (!has_its_bytes(array) || (!dim_order.empty() && dim_order.size() != array.shape.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an array of shape [", absl::StrJoin(array.shape, ","), "] and ",
        runtime::to_string(array.type), " has ", array.data.size(), " bytes and an order of ",
        dim_order.size(), " dims, which do not belong together"));
  }
  std::shared_ptr<ArrayTensor> tensor(new ArrayTensor(array, dim_order));
  const size_t bytes = tensor->memory_.size() * sizeof(uint64_t);
  if (tensor->impl_.set_data(tensor->memory_.data(), bytes) != runtime::Error::Ok) {
    return absl::InternalError("a tensor cannot be made of the array");
  }
  return tensor;
}

NpyArray to_npy(const Tensor& tensor) {
  NpyArray array;
  array.type = tensor.scalar_type();
  array.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
  array.data.resize(tensor.nbytes());
  const std::vector<int64_t> strides = dense_strides(tensor.sizes(), tensor.dim_order());
  reorder(static_cast<const uint8_t*>(tensor.const_data_ptr()), strides, array.data.data(),
          dense_strides(tensor.sizes(), {}), tensor.sizes(), tensor.element_size());
  return array;
}

}  // namespace petrel::extension
