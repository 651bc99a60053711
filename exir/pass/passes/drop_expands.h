// SPDX-License-Identifier: Apache-2.0
//
// Lets arithmetic read a tensor before it is expanded, where the other operand has the sizes of
// the result: operators of two tensors broadcast by themselves, and a copy of all elements is
// neither made nor read. Runs on functional graphs.
//
//   before   %e = aten.expand.default(%norm, [4, 32, 196])       %norm: f32[4,32,1]
//            %y = aten.div.Tensor(%x, %e)
//   after    %y = aten.div.Tensor(%x, %norm)
#ifndef PETREL_EXIR_PASS_PASSES_DROP_EXPANDS_H_
#define PETREL_EXIR_PASS_PASSES_DROP_EXPANDS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> drop_expands(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_DROP_EXPANDS_H_
