// SPDX-License-Identifier: Apache-2.0
//
// A way to walk the elements of a tensor, and moves from one to another: what all
// operators do that only rearrange.
//
//   StridedView half = view_of(x->tensor()).cut(1, 0, 4, 1);   // x[:, 0:4]
//   move(calls, "slice", x, half, calls.out(), view_of(out->tensor()));
#ifndef PETREL_EXIR_EMIT_C_STRIDED_VIEW_H_
#define PETREL_EXIR_EMIT_C_STRIDED_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exir/emit_c/node_calls.h"

namespace petrel::exir::emit_c {

struct StridedView {
  Extents sizes;
  Extents strides;  // in elements
  Extent offset = 0;

  // Elements begin, begin + step, ... of a dim, `count` of them.
  StridedView cut(size_t dim, const Extent& begin, const Extent& count, int64_t step) const;
  StridedView without(size_t dim) const;  // its first element
};

StridedView view_of(const TensorType& type);

// Precondition: the sizes are equal. Converts where the types differ.
void move(NodeCalls& calls, const std::string& name, const Value* from,
          const StridedView& from_view, const Value* to, const StridedView& to_view);

// The whole tensor, unless it lies there already.
void copy_whole(NodeCalls& calls, const std::string& name, const Value* from, const Value* to);

}  // namespace petrel::exir::emit_c

#endif  // PETREL_EXIR_EMIT_C_STRIDED_VIEW_H_
