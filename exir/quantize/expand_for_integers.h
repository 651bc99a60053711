// SPDX-License-Identifier: Apache-2.0
//
// Operators that have no form of integers as they are become those that have, before scales are
// chosen: so samples tell of what lies between.
//
//   before  %y = aten.scaled_dot_product_attention.default(%q, %k, %v)
//   after   %s = aten.bmm.default(%q * scale, %k^T)
//           %p = aten._softmax.default(%s, 2, false)
//           %y = aten.bmm.default(%p, %v)
//
//   before  %y = aten.scaled_dot_product_attention.default(%q, %k, %v, constant @mask : bool)
//   after   %s = aten.where.self(constant @mask, %q * scale @ %k^T, -inf)
//           %p = aten._softmax.default(%s, 2, false)          which is one form
//
// expand_forms.h has those that are arithmetic.
#ifndef PETREL_EXIR_QUANTIZE_EXPAND_FOR_INTEGERS_H_
#define PETREL_EXIR_QUANTIZE_EXPAND_FOR_INTEGERS_H_

#include "absl/status/status.h"
#include "exir/ir/program.h"
#include "exir/pass/framework/pass.h"

namespace petrel::exir {

//   before  %y = aten.convolution(%x : f32[1,2,3,5,4], constant @w : f32[3,2,3,3,3], ...)
//   after   the sum over the depth of @w of convolutions of images, whose weights are constants
//
// That alone, for kernels, which compute volumes so.
absl::Status volumes_to_images(Graph& graph, const PassContext& context);

absl::Status expand_for_integers(Graph& graph);
// Of all methods, and verified.
absl::Status expand_for_integers(Program& program);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_EXPAND_FOR_INTEGERS_H_
