// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/strides.h"

#include <algorithm>
#include <cstddef>

namespace petrel::exir {

Strides dense_strides(const TensorType& type) {
  Strides strides(type.rank());
  int64_t stride = 1;
  for (size_t i = type.rank(); i-- > 0;) {
    strides[type.dim_order[i]] = stride;
    // Without elements the other sizes may have any product, and nobody reads the strides.
    __builtin_mul_overflow(stride, type.sizes[type.dim_order[i]], &stride);
  }
  return strides;
}

std::optional<Strides> strides_of_view(const Sizes& sizes, const Strides& strides,
                                       const Sizes& new_sizes) {
  // Of an empty tensor the other sizes may have any product.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return dense_strides(TensorType::contiguous(ScalarType::kFloat, new_sizes));
  }
  // From the innermost dimension outwards, old dimensions that lie one in the
  // other form a run; new dimensions must fill each run exactly.
  Strides made(new_sizes.size(), 1);
  size_t old_dim = sizes.size();
  size_t new_dim = new_sizes.size();
  while (old_dim > 0) {
    if (sizes[old_dim - 1] == 1) {
      --old_dim;
      continue;
    }
    const int64_t unit = strides[old_dim - 1];
    int64_t run = sizes[--old_dim];
    while (old_dim > 0 && (sizes[old_dim - 1] == 1 || strides[old_dim - 1] == run * unit)) {
      run *= sizes[--old_dim];
    }
    int64_t filled = 1;
    while (new_dim > 0 && (filled < run || new_sizes[new_dim - 1] == 1)) {
      --new_dim;
      made[new_dim] = filled * unit;
      filled *= new_sizes[new_dim];
    }
    if (filled != run) return std::nullopt;
  }
  return made;
}

}  // namespace petrel::exir
