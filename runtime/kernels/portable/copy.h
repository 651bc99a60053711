// SPDX-License-Identifier: Apache-2.0
//
// Moving elements without looking at them, for kernels that only rearrange.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/core/tensor.h"
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
};

// to[i] = from[i] for every index i of `to`; `from` broadcasts to it. Both have
// the element type, and so the size, of `to_tensor`.
inline void copy_view(const Tensor& from_tensor, const View& from, const Tensor& to_tensor,
                      const View& to) {
  const size_t size = to_tensor.element_size();
  const char* source = static_cast<const char*>(from_tensor.const_data_ptr());
  char* target = static_cast<char*>(to_tensor.mutable_data_ptr());
  StridedLoop<2> loop(to.sizes.span());
  loop.strides_of(0, to.sizes.span(), to.strides_span());
  loop.strides_of(1, from.sizes.span(), from.strides_span());
  loop.run([&](const int64_t* at) {
    // memmove: a program may have planned source and target onto each other.
    std::memmove(target + (to.offset + at[0]) * static_cast<int64_t>(size),
                 source + (from.offset + at[1]) * static_cast<int64_t>(size), size);
  });
}

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_COPY_H_
