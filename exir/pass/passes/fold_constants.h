// SPDX-License-Identifier: Apache-2.0
//
// Computes at compile time what depends on constants alone, with the runtime's
// own kernels (exir/fold/evaluate.h).
//
//   before   %v = constant @pos.v : f32[1,16,8]
//            %g = constant @pos.g : f32[1,1,8]
//            %n = aten.mul.Tensor(%v, %g)
//            %y = aten.add.Tensor(%x, %n, 1)
//   after    %n = constant @folded_83b1... : f32[1,16,8]
//            %y = aten.add.Tensor(%x, %n, 1)
//
// A value is folded when it is no larger than the constants it is made of, or
// small (64 KiB): a broadcast or a mask that would blow up the file is computed
// when the program runs, and so is what takes too long to compute, or has too many
// bytes together with what was folded before. Views and permutations of constants
// go first (move_constants.h).
#ifndef PETREL_EXIR_PASS_PASSES_FOLD_CONSTANTS_H_
#define PETREL_EXIR_PASS_PASSES_FOLD_CONSTANTS_H_

#include "exir/pass/framework/pass.h"
#include "exir/pass/passes/fold_counts.h"

namespace petrel::exir {

// Elements and multiply-adds that all foldings of a graph may take: a few bytes of an archive
// can ask for the product of two matrices of ones. Six for each weight of a model of twenty
// thousand million.
inline constexpr double kMostFoldingWork = 0x1p37;

absl::StatusOr<bool> fold_constants(Graph& graph, const PassContext& context);
// The same within other bounds.
absl::StatusOr<bool> fold_constants_within(Graph& graph, double most_work,
                                           double most_bytes = kMostFoldedBytes);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_FOLD_CONSTANTS_H_
