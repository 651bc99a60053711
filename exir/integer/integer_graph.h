// SPDX-License-Identifier: Apache-2.0
//
// Takes the floats out of a quantised method (docs/int8.md): what lies between dequantised and
// quantised values becomes operators of integers, whose factors, tables and biases are
// computed here.
//
//   before   %d = dequantize_per_tensor(%q : i8[1,32], 0.02, 3, -128, 127, i8)
//            %w = dequantize_per_channel(constant @fc.weight : i8[10,32], scales, none, 0, ...)
//            %y = aten.linear.default(%d, %w, constant @fc.bias)
//            %z = aten.relu.default(%y)
//            %r = quantize_per_tensor(%z, 0.1, -128, -128, 127, i8)
//   after    %r = petrel.int8_linear.default(%q, constant @fc.weight, constant @fc.weight@bias,
//                                            @fc.weight@multiplier, @fc.weight@shift,
//                                            3, -128, -128, 127, i8)
//
// Inputs that are quantised and outputs that are dequantised may be floats, where the border
// was not opened (exir/quantize/integer_border.h); nothing else may.
#ifndef PETREL_EXIR_INTEGER_INTEGER_GRAPH_H_
#define PETREL_EXIR_INTEGER_INTEGER_GRAPH_H_

#include "absl/status/status.h"
#include "exir/ir/program.h"

namespace petrel::exir {

// InvalidArgument naming every node that computes with floats, with the reason.
absl::Status integer_program(Program& program);

// The same of one graph, before what cannot be is said; idempotent.
absl::Status integer_graph(Graph& graph);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_INTEGER_INTEGER_GRAPH_H_
