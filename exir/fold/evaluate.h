// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph without inputs at compile time. There is no second evaluator:
// the graph is written as a program in memory and run by the runtime with the
// reference kernels, so that folding and execution cannot disagree.
//
//   method @fold() {                          evaluate(graph)
//     %w = constant @w : f32[2]         -->     {bytes of %y}
//     %y = aten.exp.default(%w) : f32[2]
//     return %y
//   }
#ifndef PETREL_EXIR_FOLD_EVALUATE_H_
#define PETREL_EXIR_FOLD_EVALUATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "exir/ir/blob.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

// Whether the operator has a kernel here and always gives the same for the same
// arguments.
bool can_evaluate(const OpInfo& op);

// Elements and multiply-adds, some minutes of the reference kernels: a few bytes of an
// archive can ask for the days that a program may compute.
inline constexpr uint64_t kMostEvaluated = uint64_t{1} << 36;

// The bytes of each output of `graph`, which holds only tensors and operators
// that can be evaluated; its state is as it is at the start. FailedPrecondition
// naming the runtime's error when it does not run; ResourceExhausted when that takes more
// than `most_work` of the runtime's max_element_operations.
absl::StatusOr<std::vector<Blob>> evaluate(std::unique_ptr<Graph> graph,
                                           uint64_t most_work = kMostEvaluated);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_FOLD_EVALUATE_H_
