// SPDX-License-Identifier: Apache-2.0
//
// Refuses scales in tensors that no levels can have: 0, below 0, denormal, or not finite.
// Changes nothing; those that are written in the program the rules of operators check.
//
//   %s = constant @weight.scales : f32[8]                       element 3 is 0
//   %w = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, -127, 127, i8)
//
//   node 'w' (...): element 3 of scale 'weight.scales' is 0, must be a positive, normal number
#ifndef PETREL_EXIR_PASS_PASSES_CHECK_QUANTISATION_H_
#define PETREL_EXIR_PASS_PASSES_CHECK_QUANTISATION_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> check_quantisation(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_CHECK_QUANTISATION_H_
