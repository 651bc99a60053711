// SPDX-License-Identifier: Apache-2.0
//
// Takes zero points that are all 0 away from weights: quantisers that are symmetric write
// them all the same.
//
//   before   %z = constant @z : i64[4]     zeros
//            %w = quantized_decomposed.dequantize_per_channel.default(%q, %s, %z, 0, ...)
//   after    %w = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, ...)
//
// Also where other weights may take the place of these: that there are no zero points is a
// part of the program then, and weights that have some belong to another program.
#ifndef PETREL_EXIR_PASS_PASSES_DROP_ZERO_POINTS_H_
#define PETREL_EXIR_PASS_PASSES_DROP_ZERO_POINTS_H_

#include "exir/pass/framework/pass.h"

namespace petrel::exir {

absl::StatusOr<bool> drop_zero_points(Graph& graph, const PassContext& context);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_PASSES_DROP_ZERO_POINTS_H_
