// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels/optimized/reduction_shape.h"

#include "runtime/kernels/portable/check.h"

namespace petrel::runtime::optimized {

std::optional<ReductionShape> ReductionShape::of(const Tensor& tensor,
                                                 std::optional<Span<const int64_t>> dims) {
  if (!portable::is_contiguous(tensor)) return std::nullopt;
  ReductionShape shape;
  const auto sizes = tensor.sizes();
  const int64_t rank = static_cast<int64_t>(sizes.size());
  if (!dims || dims->empty()) {
    for (int64_t d = 0; d < rank; ++d) shape.reduced[d] = true;
  } else {
    for (const int64_t dim : *dims) {
      if (dim < -rank || dim >= rank) return std::nullopt;
      bool& reduced = shape.reduced[dim < 0 ? dim + rank : dim];
      if (reduced) return std::nullopt;
      reduced = true;
    }
  }
  // Outer dims until the first reduced one, then inner dims after the last.
  enum { kOuter, kReduced, kInner } state = kOuter;
  for (int64_t d = 0; d < rank; ++d) {
    if (sizes[static_cast<size_t>(d)] == 1) continue;
    if (shape.reduced[d]) {
      if (state == kInner) return std::nullopt;
      state = kReduced;
    } else if (state == kReduced) {
      state = kInner;
    }
    const size_t size = static_cast<size_t>(sizes[static_cast<size_t>(d)]);
    (state == kOuter ? shape.outer : state == kReduced ? shape.length : shape.inner) *= size;
  }
  return shape;
}

bool ReductionShape::resize(const Tensor& self, bool keepdim, const Tensor& out) const {
  portable::SizeArray sizes;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    if (!reduced[d]) {
      sizes[sizes.rank++] = self.sizes()[d];
    } else if (keepdim) {
      sizes[sizes.rank++] = 1;
    }
  }
  return resize_tensor(out, sizes.span()) == Error::Ok && portable::is_contiguous(out);
}

}  // namespace petrel::runtime::optimized
