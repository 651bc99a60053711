// SPDX-License-Identifier: Apache-2.0
//
// Spells every operator that only rearranges or cuts with five: view, reshape
// (a view that may have to copy), permute, expand and slice, with explicit
// sizes, non-negative dims and clamped bounds. It leaves what aliases what as
// it was, so it is right before functionalisation as well.
//
//   before   %a = aten.unsqueeze.default(%x, -1)       : f32[2,3,1]
//            %b = aten.transpose.int(%x, -1, 0)        : f32[3,2]
//            %c = aten.select.int(%x, 1, -1)           : f32[2]
//            %d, %e = aten.split.Tensor(%x, 2, 1)      : f32[2,2], f32[2,1]
//   after    %a = aten.view.default(%x, [2, 3, 1])
//            %b = aten.permute.default(%x, [1, 0])
//            %s = aten.slice.Tensor(%x, 1, 2, 3, 1)    : f32[2,1]
//            %c = aten.view.default(%s, [2])
//            %d = aten.slice.Tensor(%x, 1, 0, 2, 1)
//            %e = aten.slice.Tensor(%x, 1, 2, 3, 1)
#ifndef PETREL_EXIR_PASS_PASSES_NORMALIZE_VIEWS_H_
#define PETREL_EXIR_PASS_PASSES_NORMALIZE_VIEWS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> normalize_views(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_NORMALIZE_VIEWS_H_
