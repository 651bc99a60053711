// SPDX-License-Identifier: Apache-2.0
//
// Gives every constant the contiguous order that values inside a graph have.
// Weights of models saved in channels-last order are rearranged when they are
// read, one at a time.
//
//   before   %w = constant @conv.weight : f32[8,3,3,3]{0,2,3,1}
//   after    %w = constant @conv.weight : f32[8,3,3,3]
#ifndef PETREL_EXIR_PASS_PASSES_CONTIGUOUS_CONSTANTS_H_
#define PETREL_EXIR_PASS_PASSES_CONTIGUOUS_CONSTANTS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> contiguous_constants(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_CONTIGUOUS_CONSTANTS_H_
