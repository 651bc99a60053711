// SPDX-License-Identifier: Apache-2.0
//
// Removes nodes without an effect whose results nobody uses, and constants that
// no node, output or write uses any more (running statistics of folded batch
// norms, counters). A node that draws random numbers stays: without its draw,
// all later ones would give other numbers than the model does.
//
//   before   %a = aten.relu.default(%x)      %b = aten.neg.default(%x)
//            return %b
//   after    %b = aten.neg.default(%x)
//            return %b
#ifndef PETREL_EXIR_PASS_PASSES_REMOVE_DEAD_CODE_H_
#define PETREL_EXIR_PASS_PASSES_REMOVE_DEAD_CODE_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> remove_dead_code(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_REMOVE_DEAD_CODE_H_
