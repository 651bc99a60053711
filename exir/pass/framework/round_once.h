// SPDX-License-Identifier: Apache-2.0
//
// Operators of floats of 16 bits that become several nodes, each of which would round: eager
// PyTorch rounds the result alone.
//
//   constexpr Rewrite kRows[] = {{aten::silu, rounded_once<silu>}};
//
//   before   %y = aten.silu.default(%x : f16[2])
//   after    %w = aten._to_copy.default(%x, f32)
//            %s = aten.silu.default(%w)            which the row then takes apart
//            %y = aten._to_copy.default(%s, f16)
#ifndef PETREL_EXIR_PASS_FRAMEWORK_ROUND_ONCE_H_
#define PETREL_EXIR_PASS_FRAMEWORK_ROUND_ONCE_H_

#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

// Of one result, a tensor of f16 or bf16.
bool rounds_to_16_bits(const Node& node);

// The node between casts. Precondition: rounds_to_16_bits(node), and all its tensors are such.
absl::StatusOr<bool> compute_in_f32(Builder& b, Node& node);

template <RewriteFn kRun>
absl::StatusOr<bool> rounded_once(Builder& b, Node& node) {
  return rounds_to_16_bits(node) ? compute_in_f32(b, node) : kRun(b, node);
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_ROUND_ONCE_H_
