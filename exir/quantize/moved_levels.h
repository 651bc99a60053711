// SPDX-License-Identifier: Apache-2.0
//
// Moves levels in the place of the numbers that they stand for, between nodes that backends
// take: a quarter of the bytes, and nothing to convert at the borders of partitions.
//
//   before   %d = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 2, -128, 127, i8)
//            %m = aten.roll.default(%d, [1], [3])
//            %r = quantized_decomposed.quantize_per_tensor.default(%m, 0.5, 2, -128, 127, i8)
//   after    %r = aten.roll.default(%q, [1], [3])
//
// Only where the numbers of both are the same, and nobody else reads what is moved.
#ifndef PETREL_EXIR_QUANTIZE_MOVED_LEVELS_H_
#define PETREL_EXIR_QUANTIZE_MOVED_LEVELS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Nodes for which `stays` is true move numbers as before: backends merge what converts around
// those they take. Returns whether anything changed.
absl::StatusOr<bool> move_levels_as_they_are(Graph& graph,
                                             const std::function<bool(const Node&)>& stays);

// `made` moves levels as `node` moved numbers: a size by data has its name, which the rule of the
// operator does not know.
void take_sizes_by_data(const Node& node, const Node& made);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_MOVED_LEVELS_H_
