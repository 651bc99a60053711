// SPDX-License-Identifier: Apache-2.0
//
// Removes arithmetic with numbers that change nothing: factors and divisors of
// one, zeros that are subtracted, and pairs of negations. A sum with zero stays,
// because it makes 0.0 of -0.0. Runs on functional graphs after numbers went
// where numbers belong (normalize_scalars.h).
//
//   before   %a = aten.mul.Scalar(%x, 1)
//            %b = aten.div.Scalar(%a, 1)
//            %c = aten.sub.Scalar(%b, 0, 1)
//            %d = aten.neg.default(%c)
//            %e = aten.neg.default(%d)
//            %f = aten.exp.default(%e)
//   after    %d = aten.neg.default(%x)
//            %f = aten.exp.default(%x)
#ifndef PETREL_EXIR_PASS_PASSES_REMOVE_NEUTRAL_NUMBERS_H_
#define PETREL_EXIR_PASS_PASSES_REMOVE_NEUTRAL_NUMBERS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> remove_neutral_numbers(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_REMOVE_NEUTRAL_NUMBERS_H_
