// SPDX-License-Identifier: Apache-2.0
//
// Rows of rewritings (rewrite.h) on nodes whose sizes vary. The row is tried on every
// path that it can take (row_trial.h); what it makes on all of them takes the place
// of the node. A size that it wrote is left to the operator where the operator finds
// it out, or computed at run time (size_numbers.h):
//
//   the row writes    %v = aten.view.default(%x, [8*s0])
//   in the graph      %v = aten.view.default(%x, [-1])
//
//   the row writes    %s = aten.slice.Tensor(%y, 0, 0, s0)
//   in the graph      %n = aten.sym_size.int(%x, 0)
//                     %s = aten.slice.Tensor(%y, 0, 0, %n)
//
// What is made must give types that are proven to be those of the node. Where the
// row does different things on different paths (a branch by a size, a count of steps
// that depends on one), takes a size for a number (a constant, a float), or writes
// one that does not follow from the operands, the node stays as it is.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_
#define PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

// Whether a size of an operand or result varies, or an operand is a number
// computed at run time.
bool has_varying_sizes(const Node& node);

// False, and nothing changed, where the row does not apply or is not proven to do
// the same for all sizes.
absl::StatusOr<bool> rewrite_dynamic(Graph& graph, Node& node, RewriteFn row);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_
