// SPDX-License-Identifier: Apache-2.0
//
// Views and permutations of a constant are constants: the same bytes, or the same in another
// order, made when they are read. A transposed weight is never held in memory.
//
//   before   %w = constant @w : f32[2,3]
//            %p = aten.permute.default(%w, [1, 0])
//   after    %p = constant @w@permute_1_0 : f32[3,2]
//
// Names say what was done, for those who make such a weight of another one.
#ifndef PETREL_EXIR_PASS_PASSES_MOVE_CONSTANTS_H_
#define PETREL_EXIR_PASS_PASSES_MOVE_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/passes/fold_counts.h"

namespace petrel::exir {

// Whether there were any. What `counts` does not take stays a node.
absl::StatusOr<bool> move_constants(Graph& graph, FoldCounts& counts);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_MOVE_CONSTANTS_H_
