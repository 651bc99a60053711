// SPDX-License-Identifier: Apache-2.0
//
// A boolean mask of an attention that a backend wants whole becomes what is
// added to the scores, once for all attentions that it masks: backends compute
// in floats.
//
//   before   %y = aten.scaled_dot_product_attention.default(%q, %k, %v, %mask)
//            %z = aten.scaled_dot_product_attention.default(%y, %k, %v, %mask)
//   after    %zero = constant 0.0, %low = constant -inf
//            %m = aten.where.self(%mask, %zero, %low)
//            %y = aten.scaled_dot_product_attention.default(%q, %k, %v, %m)
//            %z = aten.scaled_dot_product_attention.default(%y, %k, %v, %m)
//
// Without such a backend kernels choose by the mask itself.
#ifndef PETREL_EXIR_PASS_PASSES_ADDITIVE_MASKS_H_
#define PETREL_EXIR_PASS_PASSES_ADDITIVE_MASKS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> additive_masks(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_ADDITIVE_MASKS_H_
