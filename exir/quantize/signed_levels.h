// SPDX-License-Identifier: Apache-2.0
//
// Levels of u8 within a graph become levels of i8, which backends have: each stands for the
// same number, 128 below.
//
//   before   %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 130, 0, 255, u8)
//            %y = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 130, 0, 255, u8)
//   after    %q = quantized_decomposed.quantize_per_tensor.default(%x, 0.5, 2, -128, 127, i8)
//            %y = quantized_decomposed.dequantize_per_tensor.default(%q, 0.5, 2, -128, 127, i8)
//
// So do weights that are stored as u8, also with a zero point for each channel.
//
// Only where all that reads the levels dequantises them with numbers that are known now: inputs
// and outputs of u8 stay what they are.
#ifndef PETREL_EXIR_QUANTIZE_SIGNED_LEVELS_H_
#define PETREL_EXIR_QUANTIZE_SIGNED_LEVELS_H_

#include <map>

#include "exir/ir/graph.h"

namespace petrel::exir {

// What constants became: graphs of a program share them as they did.
using SignedConstants = std::map<ConstantPtr, ConstantPtr>;

// Returns whether anything changed.
bool sign_levels(Graph& graph, SignedConstants& made);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_SIGNED_LEVELS_H_
