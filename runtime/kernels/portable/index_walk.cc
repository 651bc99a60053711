// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/index_walk.h"

namespace petrel::runtime::portable {

bool check_index_type(KernelRuntimeContext& context, const Tensor& index) {
  return check(context,
               index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
               "indices must be int64 or int32");
}

bool IndexWalk::prepare(KernelRuntimeContext& context, Span<const SizesType> sizes,
                        Span<const std::optional<Tensor>> indices) {
  indices_ = indices;
  if (!check(context, indices.size() <= sizes.size(), "more indices than dims")) return false;
  size_t first = 0, last = 0, count = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    if (!check_index_type(context, *indices[d]) ||
        !check(context, broadcast_sizes(&block_, indices[d]->sizes()),
               "the indices do not broadcast")) {
      return false;
    }
    if (count++ == 0) first = d;
    last = d;
  }
  if (!check(context, count > 0, "there is no index") ||
      !check(context, sizes.size() - count + block_.rank <= kTensorDimensionLimit,
             "rank is above 16")) {
    return false;
  }
  const size_t block_dim = last - first + 1 == count ? first : 0;
  for (size_t d = 0; d <= sizes.size(); ++d) {
    if (d == block_dim) {
      block_start_ = sizes_.rank;
      for (size_t i = 0; i < block_.rank; ++i) sizes_[sizes_.rank++] = block_[i];
    }
    if (d == sizes.size() || (d < indices.size() && indices[d])) continue;
    tensor_dim_[rest_count_] = d;
    result_dim_[rest_count_++] = sizes_.rank;
    sizes_[sizes_.rank++] = sizes[d];
  }
  return true;
}

View IndexWalk::rest_of(const Tensor& tensor) const {
  View view;
  view.sizes.rank = rest_count_;
  for (size_t i = 0; i < rest_count_; ++i) {
    view.sizes[i] = sizes_[result_dim_[i]];
    view.strides[i] = tensor.strides()[tensor_dim_[i]];
  }
  return view;
}

View IndexWalk::rest_of(const int64_t* result_strides) const {
  View view;
  view.sizes.rank = rest_count_;
  for (size_t i = 0; i < rest_count_; ++i) {
    view.sizes[i] = sizes_[result_dim_[i]];
    view.strides[i] = result_strides[result_dim_[i]];
  }
  return view;
}

bool IndexWalk::place_in(KernelRuntimeContext& context, const Tensor& tensor,
                         const SizesType* index, int64_t* out) const {
  for (size_t d = 0; d < indices_.size(); ++d) {
    if (!indices_[d]) continue;
    const Tensor& choice = *indices_[d];
    const size_t shift = block_.rank - choice.sizes().size();
    int64_t offset = 0;
    for (size_t i = 0; i < choice.sizes().size(); ++i) {
      if (choice.sizes()[i] != 1) offset += index[shift + i] * choice.strides()[i];
    }
    const int64_t value =
        loader<int64_t>(choice.scalar_type())(choice.const_data_ptr(), static_cast<size_t>(offset));
    int64_t place = 0;
    if (!place_of(context, value, tensor.sizes()[d], &place)) return false;
    *out += place * tensor.strides()[d];
  }
  return true;
}

}  // namespace petrel::runtime::portable
