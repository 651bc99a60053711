// SPDX-License-Identifier: Apache-2.0
//
// Moves levels in the place of the numbers that they stand for. What moves elements, or takes
// the largest of some, does the same to both:
//
//   before   %d = dequantize_per_tensor(%q, 0.02, 3, ...)      %v = aten.view(%y, [2,8])
//            %v = aten.view(%d, [2,8])                         %r = quantize_per_tensor(%v, ...)
//   after    %p = aten.view(%q, [2,8])                         %p = quantize_per_tensor(%y, ...)
//            %v = dequantize_per_tensor(%p, 0.02, 3, ...)      %r = aten.view(%p, [2,8])
//
// So quantising stands right behind what computes a number, and dequantising right before
// what takes it.
#ifndef PETREL_EXIR_INTEGER_MOVE_LEVELS_H_
#define PETREL_EXIR_INTEGER_MOVE_LEVELS_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Returns whether it changed anything.
absl::StatusOr<bool> move_levels(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_MOVE_LEVELS_H_
