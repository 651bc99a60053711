// SPDX-License-Identifier: Apache-2.0
//
// Makes the graph free of writes: an in-place operator becomes its functional
// twin, and whoever reads the changed tensor later, by whatever name or view,
// reads the new value. Writes through views go to the base with *_scatter;
// what a buffer holds at the end becomes a buffer write.
//
//   before   %a = aten.slice.Tensor(%x, 0, 0, 2, 1)      : f32[2]
//            %b = aten.relu_.default(%a)                 : f32[2]
//            %c = aten.add_.Tensor(%cache, %x, 1)        : f32[4]
//            return %x
//   after    %a = aten.slice.Tensor(%x, 0, 0, 2, 1)      : f32[2]
//            %r = aten.relu.default(%a)                  : f32[2]
//            %s = aten.slice_scatter.default(%x, %r, 0, 0, 2, 1) : f32[4]
//            %c = aten.add.Tensor(%cache, %s, 1)         : f32[4]
//            write %c to %cache
//            return %s
//
// After it no aliasing can be observed, so reshape (a view or a copy, as
// strides have it) and the *_copy operators become plain views. Runs behind
// normalize_views. Inputs belong to the caller: a method that changes one
// computes with the new value and leaves the caller's tensor alone. Writes
// through views other than view, permute and slice are refused.
#ifndef PETREL_EXIR_PASS_PASSES_FUNCTIONALIZE_H_
#define PETREL_EXIR_PASS_PASSES_FUNCTIONALIZE_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> functionalize(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_FUNCTIONALIZE_H_
