// SPDX-License-Identifier: Apache-2.0
//
// Moving elements without looking at them, for kernels that only rearrange.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/core/tensor.h"
#include "runtime/kernels/portable/check.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::portable {

// A rectangular part of a tensor, or another view of it: where it starts and
// how far its dimensions are apart, in elements.
struct View {
  int64_t offset = 0;
  SizeArray sizes;
  int64_t strides[kTensorDimensionLimit] = {};

  View() = default;
  explicit View(const Tensor& tensor) : sizes(tensor.sizes()) {
    for (size_t d = 0; d < sizes.rank; ++d) strides[d] = tensor.strides()[d];
  }
  Span<const int64_t> strides_span() const { return {strides, sizes.rank}; }

  // All elements of a tensor whose memory is in logical order, as if it had
  // other sizes.
  static View contiguous(Span<const SizesType> sizes) {
    View view;
    view.sizes = SizeArray(sizes);
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      view.strides[d] = stride;
      stride *= sizes[d];
    }
    return view;
  }

  // Every step-th element along dimension d: start, start + step, ...
  View part(size_t d, int64_t start, int64_t length, int64_t step = 1) const {
    View view = *this;
    view.offset += start * strides[d];
    // A stride that is not used could be too large for a number.
    if (length > 1) view.strides[d] = strides[d] * step;
    view.sizes[d] = static_cast<SizesType>(length);
    return view;
  }

  // Place `index` along dimension d, without that dimension.
  View at(size_t d, int64_t index) const {
    View view = part(d, index, 1);
    for (size_t i = d; i + 1 < view.sizes.rank; ++i) {
      view.sizes[i] = view.sizes[i + 1];
      view.strides[i] = view.strides[i + 1];
    }
    --view.sizes.rank;
    return view;
  }
};

// to[i] = from[i] for every index i of `to`; `from` broadcasts to it. Both have
// the element type, and so the size, of `to_tensor`. Runs that are contiguous
// on both sides move at once, transpositions block by block.
void copy_view(const Tensor& from_tensor, const View& from, const Tensor& to_tensor,
               const View& to);

// `out` takes the sizes of `from`, a view of `self`, and its elements.
bool copy_all(KernelRuntimeContext& context, const Tensor& self, const View& from,
              const Tensor& out);

// Stores a size that is in [0, 2^31), or fails.
inline bool narrow_size(KernelRuntimeContext& context, int64_t size, SizesType* out) {
  if (!check(context, size >= 0 && size <= INT32_MAX, "a size is not in [0, 2^31)")) return false;
  *out = static_cast<SizesType>(size);
  return true;
}

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_
