// SPDX-License-Identifier: Apache-2.0
//
// What tensor[indices] means when indices are tensors: shared by index, which
// reads such elements, and index_put, which writes them.
//
//   tensor [5, 6, 7], indices {none, [2, 1], [4]}   ->  result [5, 2, 4]
//          rest dim 0, then the block [2, 4]: the indices broadcast together
//
// The block stands where the first index stood, or first when the indices are
// not next to each other. Dims without an index are the rest, taken whole. A mask
// stands for one index for each of its dims, which name the places that are true:
//
//   tensor [5, 6, 7], indices {mask [5, 6]}         ->  result [count, 7]
//
//   IndexWalk walk;
//   if (!walk.prepare(context, tensor.sizes(), indices)) return;
//   walk.for_each_block(context, tensor, strides_of_result, [&](int64_t at, int64_t to) {
//     // The rest at offset `at` of the tensor is the rest at `to` of the result.
//   });
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_INDEX_WALK_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_INDEX_WALK_H_

#include <optional>

#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/copy.h"
#include "runtime/kernels/portable/mask_places.h"

namespace petrel::runtime::portable {

// An index is int64 or int32.
bool check_index_type(KernelRuntimeContext& context, const Tensor& index);

class IndexWalk final {
 public:
  // `indices` name the leading dims of a tensor of `sizes`; they must outlive
  // the walk. Fails the context when they do not fit. Pays for the elements of
  // masks that the walk goes through more than once.
  bool prepare(KernelRuntimeContext& context, Span<const SizesType> sizes,
               Span<const std::optional<Tensor>> indices);

  // Sizes of tensor[indices].
  const SizeArray& sizes() const { return sizes_; }

  // The rest dims of the tensor itself, and of something with one stride for
  // each dim of the result.
  View rest_of(const Tensor& tensor) const;
  View rest_of(const int64_t* result_strides) const;

  // fn(offset in `tensor`, offset by `result_strides`) for each place of the
  // block, last dim fastest. An index outside its dim fails the context and
  // ends the walk.
  template <typename Fn>
  void for_each_block(KernelRuntimeContext& context, const Tensor& tensor,
                      const int64_t* result_strides, Fn fn) {
    SizesType index[kTensorDimensionLimit] = {};
    for (size_t left = product(block_.span(), 0, block_.rank); left > 0; --left) {
      int64_t at = 0, to = 0;
      if (!place_in(context, tensor, index, &at)) return;
      for (size_t d = 0; d < block_.rank; ++d) to += index[d] * result_strides[block_start_ + d];
      fn(at, to);
      for (size_t d = block_.rank; d-- > 0;) {
        if (++index[d] < block_[d]) break;
        index[d] = 0;
      }
    }
  }

 private:
  // An index, of the dim `first` of the tensor, or a mask of that dim and those behind it.
  struct Choice {
    const Tensor* index;
    size_t first;
    MaskPlaces* places;  // null for an index
  };

  bool add_index(KernelRuntimeContext& context, const Tensor& index, size_t dim);
  bool add_mask(KernelRuntimeContext& context, Span<const SizesType> sizes, const Tensor& mask,
                size_t dim);
  bool charge_masks(KernelRuntimeContext& context) const;
  bool place_in(KernelRuntimeContext& context, const Tensor& tensor, const SizesType* index,
                int64_t* out);
  bool place_of_mask(KernelRuntimeContext& context, const Tensor& tensor, MaskPlaces& places,
                     size_t first, const SizesType* index, int64_t* out) const;

  Choice choices_[kTensorDimensionLimit] = {};
  size_t choice_count_ = 0;
  MaskPlaces masks_[kTensorDimensionLimit];
  size_t mask_count_ = 0;
  SizeArray sizes_;
  SizeArray block_;
  size_t block_start_ = 0;  // the dim of the result
  // Dims of the rest, in the tensor and in the result.
  size_t rest_count_ = 0;
  size_t tensor_dim_[kTensorDimensionLimit] = {};
  size_t result_dim_[kTensorDimensionLimit] = {};
};

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_INDEX_WALK_H_
