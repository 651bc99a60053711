// SPDX-License-Identifier: Apache-2.0
//
// Rows that are added at places, as graphs add what comes along edges: products with a matrix
// that tells which row goes where, for which integers have forms.
//
//   before  %y = aten.index_put.default(%x : f32[5,8], [%i : i64[6]], %v : f32[6,8], true)
//   after   %m = 1 where %i is the row, else 0 : f32[5,6]
//           %s = aten.mm.default(%m, %v)
//           %y = aten.add.Tensor(%x, %s, 1)
//
// scatter_add() is taken where its index is the same all along the other dims. A place that no
// row has adds nothing, where the operators end with an error.
#ifndef PETREL_EXIR_QUANTIZE_SUMS_OVER_PLACES_H_
#define PETREL_EXIR_QUANTIZE_SUMS_OVER_PLACES_H_

#include "exir/pass/framework/rewrite.h"

namespace petrel::exir {

absl::StatusOr<bool> sum_over_places(Builder& b, Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_SUMS_OVER_PLACES_H_
