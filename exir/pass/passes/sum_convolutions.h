// SPDX-License-Identifier: Apache-2.0
//
// Branches that are summed become one convolution: filters are linear, so what a narrower
// window, a batch norm or the input itself adds to a convolution of the same input goes into
// its weights and its bias.
//
//   before   %a = aten.convolution.default(%x, %u, %c, [1, 1], [1, 1], ...)   3 x 3
//            %b = aten.convolution.default(%x, %v, %d, [1, 1], [0, 0], ...)   1 x 1
//            %s = aten.add.Tensor(%a, %b)
//            %n = aten.batch_norm.default(%x, ...)
//            %y = aten.add.Tensor(%s, %n)
//   after    %y = aten.convolution.default(%x, %u@sum2, %c@sum2, [1, 1], [1, 1], ...)
//
//        u         v in its place     n, the input scaled
//      . . .          0 0 0               0 0 0
//      . . .    +     0 v 0       +       0 s 0        s = scale[c] where the input
//      . . .          0 0 0               0 0 0            channel is the output's
//
// Networks are trained so and run as one stack of plain convolutions. Sums are rounded once
// to the type of the weights, and computed whenever they are read.
#ifndef PETREL_EXIR_PASS_PASSES_SUM_CONVOLUTIONS_H_
#define PETREL_EXIR_PASS_PASSES_SUM_CONVOLUTIONS_H_

#include "absl/status/statusor.h"
#include "exir/pass/framework/rewrite.h"
#include "exir/pass/passes/fold_counts.h"

namespace petrel::exir {

// `sum` is an aten.add.Tensor or aten.add.Scalar. False, and nothing changed, where it is not
// one convolution: operands are used elsewhere or broadcast, weights are not constants of a
// floating type or took many nodes already, or no window lies within the other.
absl::StatusOr<bool> sum_convolutions(Builder& b, Node& sum, FoldCounts& counts);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_SUM_CONVOLUTIONS_H_
