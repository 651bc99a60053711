// SPDX-License-Identifier: Apache-2.0
//
// A contiguous tensor as [outer, length, inner], of which `length` is reduced:
// possible when the reduced dims are next to each other, dims of size 1 aside.
//
//   [8, 197, 192], dim 2     outer 1576, length 192, inner 1
//   [1, 1280, 7, 7], dims 2, 3   outer 1280, length 49, inner 1
//   [4, 100, 64], dim 1      outer 4, length 100, inner 64
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_REDUCTION_SHAPE_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_REDUCTION_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/core/tensor.h"
#include "runtime/kernels/portable/strided_loop.h"

namespace petrel::runtime::optimized {

struct ReductionShape {
  size_t outer = 1, length = 1, inner = 1;
  bool reduced[kTensorDimensionLimit] = {};

  // None and an empty list mean all dims. Nothing when the dims are wrong, or
  // not next to each other, or the tensor is not contiguous.
  static std::optional<ReductionShape> of(const Tensor& tensor,
                                          std::optional<Span<const int64_t>> dims);

  // Gives `out` the sizes that remain; false when it cannot have them, or not
  // contiguous.
  bool resize(const Tensor& self, bool keepdim, const Tensor& out) const;
};

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_REDUCTION_SHAPE_H_
