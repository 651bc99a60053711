// SPDX-License-Identifier: Apache-2.0
//
// Reductions of contiguous tensors of any element type over any dims, by plain
// loops: what reduce.cc's vectors are not made for.
//
//   if (!fold(self, dims, keepdim, out, Fold::kProduct)) ...   // portable
//
// Of the dims of a tensor the last ones that are all reduced, or all kept, are
// runs in memory. A reduced run becomes one number, a kept one is a row of
// numbers that takes up one row after the other:
//
//   [8, 64, 128] over dims 0, 2:   64 sums, each of 8 runs of 128
//   [8, 64, 128] over dim 1:       8 rows of 128 sums, each of 64 runs
#ifndef PETREL_RUNTIME_KERNELS_OPTIMIZED_FOLD_H_
#define PETREL_RUNTIME_KERNELS_OPTIMIZED_FOLD_H_

#include <cstdint>
#include <optional>

#include "runtime/core/tensor.h"

namespace petrel::runtime::optimized {

enum class Fold { kSum, kMean, kProduct, kLargest, kSmallest, kAny };

// None and an empty list of dims mean all. Gives `out` its sizes; false when
// the call is not for this.
bool fold(const Tensor& self, std::optional<Span<const int64_t>> dims, bool keepdim,
          const Tensor& out, Fold kind);

}  // namespace petrel::runtime::optimized

#endif  // PETREL_RUNTIME_KERNELS_OPTIMIZED_FOLD_H_
