// SPDX-License-Identifier: Apache-2.0
//
// Nodes that widen what is stored as integers to floats.
//
//   %d = quantized_decomposed.dequantize_per_channel.default(%q, %s, none, 0, ...)   : dequantises
//   %y = aten.permute.default(%d, [1, 0])
#ifndef PETREL_EXIR_PASS_FRAMEWORK_DEQUANTISED_H_
#define PETREL_EXIR_PASS_FRAMEWORK_DEQUANTISED_H_

#include "exir/ir/graph.h"
#include "exir/ops/handles.h"

namespace petrel::exir {

inline bool dequantises(const Node& node) {
  return node.is(quantized_decomposed::dequantize_per_tensor,
                 quantized_decomposed::dequantize_per_tensor_tensor,
                 quantized_decomposed::dequantize_per_channel,
                 quantized_decomposed::dequantize_per_token,
                 quantized_decomposed::dequantize_per_channel_group, torchao::dequantize_affine);
}

}  // namespace petrel::exir

#endif  // PETREL_EXIR_PASS_FRAMEWORK_DEQUANTISED_H_
