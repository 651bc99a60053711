// SPDX-License-Identifier: Apache-2.0
//
// Rearranges weights in the integers that they are stored as, where fold_constants does it
// once, and not in floats at each run.
//
//   before   %d = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, ...)
//            %t = aten.permute.default(%d, [1, 0])
//   after    %p = aten.permute.default(%q, [1, 0])
//            %t = quantized_decomposed.dequantize_per_channel.default(%p, %s, none, 1, ...)
//
// Weights that others read as they are stay, so that none is stored twice.
#ifndef PETREL_EXIR_PASS_PASSES_PERMUTE_STORED_WEIGHTS_H_
#define PETREL_EXIR_PASS_PASSES_PERMUTE_STORED_WEIGHTS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> permute_stored_weights(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_PERMUTE_STORED_WEIGHTS_H_
