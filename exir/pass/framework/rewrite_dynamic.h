// SPDX-License-Identifier: Apache-2.0
//
// Rows of rewritings (rewrite.h) are written for fixed sizes: they read them as
// ints and put ints into nodes. For a node whose sizes vary the row is run once for
// each of some points (exir/ir/size_points.h), on a graph of that node alone with the
// sizes it has there, and the results are brought together:
//
//   at 4    %v = aten.view.default(%x, [32])      at 7    ... [56]
//   gives   %v = aten.view.default(%x, [-1])
//
//   at 4    %s = aten.slice.Tensor(%y, 0, 0, 4)   at 7    ... 0, 7)
//   gives   %n = aten.sym_size.int(%x, 0)
//           %s = aten.slice.Tensor(%y, 0, 0, %n)
//
// An int that differs must be a size of an operand, or follow from sizes by a
// product, a linear function or a division; it is then computed at run time. All
// such formulas that fit must be one function: where two of them differ the row is
// run once more, which refutes one. What is made must give types that are proven to
// be those of the node. Where results differ in any other way (another operator,
// another constant, another float), or formulas cannot be told apart, the node stays
// as it is.
#ifndef PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_
#define PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_

#include "absl/status/statusor.h"
#include "exir/ir/graph.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

// Whether a size of an operand or result varies, or an operand is a number
// computed at run time.
bool has_varying_sizes(const Node& node);

// False, and nothing changed, where the row does not apply or its results cannot
// be brought together.
absl::StatusOr<bool> rewrite_dynamic(Graph& graph, Node& node, RewriteFn row);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_REWRITE_DYNAMIC_H_
