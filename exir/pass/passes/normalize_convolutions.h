// SPDX-License-Identifier: Apache-2.0
//
// Spells every convolution as aten.convolution with all lists in full length
// and a batch dimension.
//
//   before   %a = aten.conv2d.padding(%x, %w, none, [2, 2], "same")
//            %b = aten.conv_transpose1d.default(%y, %v, %bias, [2])
//   after    %p = aten.constant_pad_nd.default(%x, [0, 1, 0, 1], 0)
//            %a = aten.convolution.default(%p, %w, none, [2, 2], [0, 0],
//                                          [1, 1], false, [0, 0], 1)
//            %b = aten.convolution.default(%y, %v, %bias, [2], [0], [1], true,
//                                          [0], 1)
//
// "same" pads one more at the end of a dimension where the total is odd; only
// then is there a node for padding.
#ifndef PETREL_EXIR_PASS_PASSES_NORMALIZE_CONVOLUTIONS_H_
#define PETREL_EXIR_PASS_PASSES_NORMALIZE_CONVOLUTIONS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> normalize_convolutions(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_NORMALIZE_CONVOLUTIONS_H_
