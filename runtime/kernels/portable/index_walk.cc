// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/portable/index_walk.h"

#include "runtime/core/budget.h"

namespace petrel::runtime::portable {

bool check_index_type(KernelRuntimeContext& context, const Tensor& index) {
  return check(context,
               index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
               "indices must be int64 or int32");
}

bool IndexWalk::add_index(KernelRuntimeContext& context, const Tensor& index, size_t dim) {
  choices_[choice_count_++] = {&index, dim, nullptr};
  return check_index_type(context, index) &&
         check(context, broadcast_sizes(&block_, index.sizes()), "the indices do not broadcast");
}

bool IndexWalk::add_mask(KernelRuntimeContext& context, Span<const SizesType> sizes,
                         const Tensor& mask, size_t dim) {
  if (!check(context, mask.dim() > 0, "a mask has no dim")) return false;
  for (size_t i = 0; i < mask.sizes().size(); ++i) {
    if (!check(context, mask.sizes()[i] == sizes[dim + i],
               "a mask has other sizes than the dims")) {
      return false;
    }
  }
  MaskPlaces& places = masks_[mask_count_++];
  places.start(mask);
  choices_[choice_count_++] = {&mask, dim, &places};
  if (!check(context, places.count() <= INT32_MAX, "there are 2^31 elements or more")) return false;
  const SizesType count[] = {static_cast<SizesType>(places.count())};
  return check(context, broadcast_sizes(&block_, count), "the indices do not broadcast");
}

// A mask is gone through once for each row of the block.
bool IndexWalk::charge_masks(KernelRuntimeContext& context) const {
  uint64_t rows = 1;
  for (size_t d = 0; d + 1 < block_.rank; ++d) {
    rows = saturating_product(rows, static_cast<uint64_t>(block_[d]));
  }
  for (size_t i = 0; i < choice_count_; ++i) {
    if (choices_[i].places != nullptr && !context.charge(choices_[i].index->numel(), rows)) {
      return false;
    }
  }
  return true;
}

bool IndexWalk::prepare(KernelRuntimeContext& context, Span<const SizesType> sizes,
                        Span<const std::optional<Tensor>> indices) {
  size_t first = 0, last = 0, count = 0, dim = 0;
  bool is_chosen[kTensorDimensionLimit] = {};
  for (const std::optional<Tensor>& index : indices) {
    const bool is_masked = index && is_mask(*index);
    const size_t dims = is_masked ? index->sizes().size() : 1;
    if (!check(context, dim + dims <= sizes.size(), "more indices than dims")) return false;
    if (index) {
      if (!(is_masked ? add_mask(context, sizes, *index, dim) : add_index(context, *index, dim))) {
        return false;
      }
      if (count == 0) first = dim;
      count += dims;
      last = dim + dims - 1;
      for (size_t d = dim; d <= last; ++d) is_chosen[d] = true;
    }
    dim += dims;
  }
  if (!check(context, count > 0, "there is no index") ||
      !check(context, sizes.size() - count + block_.rank <= kTensorDimensionLimit,
             "rank is above 16") ||
      !charge_masks(context)) {
    return false;
  }
  const size_t block_dim = last - first + 1 == count ? first : 0;
  for (size_t d = 0; d <= sizes.size(); ++d) {
    if (d == block_dim) {
      block_start_ = sizes_.rank;
      for (size_t i = 0; i < block_.rank; ++i) sizes_[sizes_.rank++] = block_[i];
    }
    if (d == sizes.size() || is_chosen[d]) continue;
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
                         const SizesType* index, int64_t* out) {
  for (size_t c = 0; c < choice_count_; ++c) {
    const auto [chosen, first, places] = choices_[c];
    if (places != nullptr) {
      if (!place_of_mask(context, tensor, *places, first, index, out)) return false;
      continue;
    }
    const Tensor& choice = *chosen;
    const size_t shift = block_.rank - choice.sizes().size();
    int64_t offset = 0;
    for (size_t i = 0; i < choice.sizes().size(); ++i) {
      if (choice.sizes()[i] != 1) offset += index[shift + i] * choice.strides()[i];
    }
    const int64_t value =
        loader<int64_t>(choice.scalar_type())(choice.const_data_ptr(), static_cast<size_t>(offset));
    int64_t place = 0;
    if (!place_of(context, value, tensor.sizes()[first], &place)) return false;
    *out += place * tensor.strides()[first];
  }
  return true;
}

bool IndexWalk::place_of_mask(KernelRuntimeContext& context, const Tensor& tensor,
                              MaskPlaces& places, size_t first, const SizesType* index,
                              int64_t* out) const {
  const auto nth = static_cast<size_t>(places.count() == 1 ? 0 : index[block_.rank - 1]);
  if (!check(context, places.go_to(nth), "a mask changed while it was read")) return false;
  for (size_t d = 0; d < places.rank(); ++d) *out += places[d] * tensor.strides()[first + d];
  return true;
}

}  // namespace petrel::runtime::portable
