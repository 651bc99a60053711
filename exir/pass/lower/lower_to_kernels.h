// SPDX-License-Identifier: Apache-2.0
//
// Takes apart what stayed whole for backends and nobody took, into operators
// that have a kernel. Runs after partitioning.
//
//   before   %a = aten.linear.default(%x, %w, %b)      : f32[4,8] x f32[5,8]
//            %b = aten.silu.default(%a)
//   after    %t = aten.permute.default(%w, [1, 0])     folded when constant
//            %a = aten.addmm.default(%b, %x, %t)
//            %s = aten.sigmoid.default(%a)
//            %b = aten.mul.Tensor(%a, %s)
#ifndef PETREL_EXIR_PASS_LOWER_LOWER_TO_KERNELS_H_
#define PETREL_EXIR_PASS_LOWER_LOWER_TO_KERNELS_H_

#include "exir/pass/framework/pass.h"
#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

absl::StatusOr<bool> lower_to_kernels(Graph& graph, const PassContext& context);

// Operators that backends may want whole, and that no kernel runs as they are.
bool is_lowered(const OpInfo& op);

Rewrites activation_lowerings();
Rewrites attention_lowerings();
// To petrel.attention, where it takes the call; else as attention_lowerings().
Rewrites petrel_attention_lowerings();
Rewrites linear_lowerings();

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_LOWER_LOWER_TO_KERNELS_H_
