// SPDX-License-Identifier: Apache-2.0
//
// Of nodes without an effect that compute the same from the same values, keeps
// the first. Models compute masks, positions and indices anew in every layer.
// Nodes that draw random numbers never compute the same. Numbers that are proven to be
// equal are one, whichever operators computed them of sizes.
// Runs on functional graphs, where a value never changes.
//
//   before   %a = aten.arange.default(8)     %b = aten.neg.default(%a)
//            %c = aten.arange.default(8)     %d = aten.neg.default(%c)
//            %e = aten.add.Tensor(%b, %d)    return %e
//   after    %a = aten.arange.default(8)     %b = aten.neg.default(%a)
//            %e = aten.add.Tensor(%b, %b)    return %e
//
//   before   %n = aten.sym_size.int(%x, 0)   %t = aten.permute.default(%x, [1, 0])
//            %m = aten.sym_size.int(%t, 1)
//   after    %n alone, also where %m was used
#ifndef PETREL_EXIR_PASS_PASSES_MERGE_EQUAL_NODES_H_
#define PETREL_EXIR_PASS_PASSES_MERGE_EQUAL_NODES_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> merge_equal_nodes(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_MERGE_EQUAL_NODES_H_
