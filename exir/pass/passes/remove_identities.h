// SPDX-License-Identifier: Apache-2.0
//
// Removes nodes that give back what they got, arithmetic with numbers that change
// nothing, pairs of negations and tensors of numbers that are read from tensors,
// merges views of views and permutations of permutations, and spells every cast
// one way. Runs on functional graphs.
//
//   before   %a = aten.dropout.default(%x, 0.5, false)
//            %b = aten.clone.default(%a, none)
//            %c = aten.to.dtype(%b, f16, false, false, none)
//            %d = aten.view.default(%c, [6])
//            %e = aten.view.default(%d, [3, 2])
//            %f = aten.mul.Scalar(%e, 1)
//   after    %c = aten._to_copy.default(%x, f16, ...)
//            %e = aten.view.default(%c, [3, 2])
#ifndef PETREL_EXIR_PASS_PASSES_REMOVE_IDENTITIES_H_
#define PETREL_EXIR_PASS_PASSES_REMOVE_IDENTITIES_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> remove_identities(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_REMOVE_IDENTITIES_H_
