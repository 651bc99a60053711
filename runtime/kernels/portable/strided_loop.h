// SPDX-License-Identifier: Apache-2.0
//
// Walks tensors element by element in the logical order of one of them, giving
// the offset of the element in each. Broadcasting is a stride of 0.
//
//   out  sizes [2, 3]          a [2, 3]       b [3]
//   offsets (out, a, b):  (0,0,0) (1,1,1) (2,2,2) (3,3,0) (4,4,1) (5,5,2)
//
//   StridedLoop<3> loop(out.sizes());
//   loop.operand(0, out); loop.operand(1, a); loop.operand(2, b);
//   loop.run([&](const int64_t* at) { o[at[0]] = x[at[1]] + y[at[2]]; });
//
// operand() wants sizes that broadcast to those of the loop; check first with
// broadcast_sizes(). Everything lives on the stack.
#ifndef PETREL_RUNTIME_KERNELS_PORTABLE_STRIDED_LOOP_H_
#define PETREL_RUNTIME_KERNELS_PORTABLE_STRIDED_LOOP_H_

#include <cstddef>
#include <cstdint>

#include "runtime/core/span.h"
#include "runtime/core/tensor.h"

namespace petrel::runtime::portable {

using SizesType = Tensor::SizesType;

// Sizes on the stack.
struct SizeArray {
  SizesType data[kTensorDimensionLimit] = {};
  size_t rank = 0;

  SizeArray() = default;
  explicit SizeArray(Span<const SizesType> sizes) : rank(sizes.size()) {
    for (size_t i = 0; i < rank; ++i) data[i] = sizes[i];
  }
  Span<const SizesType> span() const { return {data, rank}; }
  SizesType& operator[](size_t i) { return data[i]; }
  SizesType operator[](size_t i) const { return data[i]; }
};

// Widens `*sizes` so that `other` broadcasts to it; false when they do not fit.
inline bool broadcast_sizes(SizeArray* sizes, Span<const SizesType> other) {
  if (other.size() > sizes->rank) {
    const size_t more = other.size() - sizes->rank;
    for (size_t i = sizes->rank; i > 0; --i) (*sizes)[i - 1 + more] = (*sizes)[i - 1];
    for (size_t i = 0; i < more; ++i) (*sizes)[i] = 1;
    sizes->rank = other.size();
  }
  const size_t shift = sizes->rank - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    SizesType& size = (*sizes)[i + shift];
    if (size == other[i] || other[i] == 1) continue;
    if (size != 1) return false;
    size = other[i];
  }
  return true;
}

// True when a tensor of sizes `from` can be read as one of sizes `to`.
inline bool broadcasts_to(Span<const SizesType> from, Span<const SizesType> to) {
  if (from.size() > to.size()) return false;
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[i + shift] && from[i] != 1) return false;
  }
  return true;
}

template <size_t N>
class StridedLoop final {
 public:
  explicit StridedLoop(Span<const SizesType> sizes) : sizes_(sizes) {
    for (size_t k = 0; k < N; ++k) {
      for (size_t d = 0; d < sizes_.rank; ++d) strides_[k][d] = 0;
    }
  }

  void operand(size_t k, const Tensor& tensor) { strides_of(k, tensor.sizes(), tensor.strides()); }

  // The same for a view that is no Tensor: sizes that broadcast to the loop's,
  // strides in elements.
  void strides_of(size_t k, Span<const SizesType> sizes, Span<const Tensor::StridesType> strides) {
    const size_t shift = sizes_.rank - sizes.size();
    for (size_t d = 0; d < sizes_.rank; ++d) {
      const bool present = d >= shift && sizes[d - shift] != 1;
      strides_[k][d] = present ? strides[d - shift] : 0;
    }
  }

  template <typename Fn>
  void run(Fn fn) const {
    for (size_t d = 0; d < sizes_.rank; ++d) {
      if (sizes_[d] == 0) return;
    }
    int64_t at[N] = {};
    if (sizes_.rank == 0) return fn(static_cast<const int64_t*>(at));
    SizesType index[kTensorDimensionLimit] = {};
    const size_t last = sizes_.rank - 1;
    while (true) {
      for (SizesType i = 0; i < sizes_[last]; ++i) {
        fn(static_cast<const int64_t*>(at));
        for (size_t k = 0; k < N; ++k) at[k] += strides_[k][last];
      }
      for (size_t k = 0; k < N; ++k) at[k] -= strides_[k][last] * sizes_[last];
      size_t d = last;
      do {
        if (d == 0) return;
        --d;
        ++index[d];
        for (size_t k = 0; k < N; ++k) at[k] += strides_[k][d];
        if (index[d] < sizes_[d]) break;
        for (size_t k = 0; k < N; ++k) at[k] -= strides_[k][d] * sizes_[d];
        index[d] = 0;
      } while (true);
    }
  }

 private:
  SizeArray sizes_;
  int64_t strides_[N][kTensorDimensionLimit];  // of `rank` dims
};

}  // namespace petrel::runtime::portable

#endif  // PETREL_RUNTIME_KERNELS_PORTABLE_STRIDED_LOOP_H_
