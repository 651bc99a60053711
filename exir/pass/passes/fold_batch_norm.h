// SPDX-License-Identifier: Apache-2.0
//
// Batch norm in evaluation is a scale and a shift per channel: they go into the
// weights of the convolution or matrix product in front when that has no other
// user, else they become one mul and one add. Views and permutations between the two
// move channels and do not mix them (channel_source.h). Where channels of several are
// joined (cat), each takes those of its own.
//
//   before   %c = aten.convolution.default(%x, %conv.weight, none, ...)
//            %y = aten.batch_norm.default(%c, %bn.weight, %bn.bias,
//                     %bn.running_mean, %bn.running_var, false, 0.1, 1e-05, ..)
//   after    %conv.weight@bn = constant @conv.weight@bn
//            %conv.bias@bn = constant @conv.bias@bn
//            %y = aten.convolution.default(%x, %conv.weight@bn, %conv.bias@bn,
//                     ...)
//
//   s = weight / sqrt(running_var + eps)
//   conv.weight@bn[c] = conv.weight[c] * s[c]
//   conv.bias@bn[c]   = (conv.bias[c] - running_mean[c]) * s[c] + bias[c]
//
// In double precision, rounded once. Folded weights are computed whenever they
// are read, so no second copy of the model is held. Statistics that are not
// constant, or that more norms share than a graph may have tables for, are taken
// into account by ordinary operators.
//
// A batch norm may follow a sum of branches, and be one: sum_convolutions.h makes one
// convolution of them on the way.
#ifndef PETREL_EXIR_PASS_PASSES_FOLD_BATCH_NORM_H_
#define PETREL_EXIR_PASS_PASSES_FOLD_BATCH_NORM_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> fold_batch_norm(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_FOLD_BATCH_NORM_H_
