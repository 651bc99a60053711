// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators between dequantised and quantised values, for which XNNPACK has
// other nodes of integers than of floats.
//
//   %y = mul(%d, 1.5)       1.5 as level 1 of a scale of 1.5
//   %y = add(%d, %c)        c, which is dequantised from levels: these
//   %y = gelu(%d, "tanh")   Gelu, which is the other gelu
//
// silu and hardsigmoid have none: levels between two nodes move many results to the one beside.
//
// Conversions merge with the nodes between them (merge_conversions.h). What is given back
// here merges whole: a node of floats does not take levels.

#ifndef PETREL_BACKENDS_XNNPACK_AOT_INTEGER_OPERANDS_H_
#define PETREL_BACKENDS_XNNPACK_AOT_INTEGER_OPERANDS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/xnnpack/aot/lowering.h"
#include "backends/xnnpack/aot/quantized_weight.h"

namespace petrel::backends::xnnpack::aot {

struct IntegersAround {
  TensorQuant input;
  TensorQuant output;
};

// What `input`, which `node` computes with, was dequantised from, and what its result is
// quantised to; nullopt where one of them is of floats.
std::optional<IntegersAround> integers_around(const Lowering& lowering, const exir::Node& node,
                                              const exir::Value* input);

struct BinaryOperands {
  NodeKind kind;
  uint32_t a;
  uint32_t b;
};

// Of a sum, product or quotient of one value and one constant, whose factor `alpha` is 1.
// Nullopt where XNNPACK does not compute it with integers.
absl::StatusOr<std::optional<BinaryOperands>> integer_operands(Lowering& lowering,
                                                               const exir::Node& node,
                                                               NodeKind kind);

// Lowers a gelu of approximate = 'tanh' with integers where the other one, which is one node,
// rounds to the same levels; else says false.
absl::StatusOr<bool> lower_gelu_of_integers(Lowering& lowering, const exir::Node& node);

}  // namespace petrel::backends::xnnpack::aot

#endif  // PETREL_BACKENDS_XNNPACK_AOT_INTEGER_OPERANDS_H_
