// SPDX-License-Identifier: Apache-2.0
//
// Literals among tensors go where numbers belong: a constant of rank 0 becomes
// the argument of the overload for scalars where there is one and the result
// keeps its dtype. Numbers that have no overload become such a constant. Second
// names of operators become first names.
//
//   before   %c = constant @literal_f32_40000000 : f32[]       2.0
//            %a = aten.add.Tensor(%x, %c, 1)             : f32[4]
//            %b = aten.mul.Tensor(%c, %x)                : f32[4]
//            %d = aten.rsub.Scalar(%x, 2.0, 1)           : f32[4]
//            %e = aten.__and__.Tensor(%m, %n)            : bool[4]
//   after    %a = aten.add.Scalar(%x, 2.0, 1)
//            %b = aten.mul.Scalar(%x, 2.0)
//            %d = aten.sub.Tensor(%c, %x, 1)
//            %e = aten.bitwise_and.Tensor(%m, %n)
#ifndef PETREL_EXIR_PASS_PASSES_NORMALIZE_SCALARS_H_
#define PETREL_EXIR_PASS_PASSES_NORMALIZE_SCALARS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> normalize_scalars(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_NORMALIZE_SCALARS_H_
