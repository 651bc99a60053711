// SPDX-License-Identifier: Apache-2.0
//
// Products of bfloat16, and what is connected to them, compute in f32 between casts, because
// backends and quantised kernels have no bfloat16:
//
//   before  %y = aten.linear.default(%x : bf16[2,64], constant @w : bf16[8,64], none)
//           %r = aten.relu.default(%y)
//   after   %f = aten._to_copy.default(%x, f32)
//           %y = aten.linear.default(%f, constant @w@f32 : f32[8,64], none)
//           %n = aten.relu.default(%y)
//           %r = aten._to_copy.default(%n, bf16)
//
// So do nodes that make levels of bfloat16 or half, and those that make such numbers of levels,
// as backends have levels of f32 alone; then products by dequantised weights become these:
//
//   before  %w = torchao.dequantize_affine.default(%q, constant @s : bf16[8,2], ..., bf16)
//           %y = aten.linear.default(%x : bf16[2,64], %w, none)
//   after   %w = torchao.dequantize_affine.default(%q, constant @s@f32 : f32[8,2], ..., f32)
//           %f = aten._to_copy.default(%x, f32)
//           %y = aten.linear.default(%f, %w, none)
//           %r = aten._to_copy.default(%y, bf16)
//
// So does what goes on with numbers that other nodes computed in f32.
//
// Numbers of bfloat16 are numbers of f32, so weights are the same; between the casts nothing is
// rounded to bfloat16 any more. Weights in f32 take twice their bytes, and are made when they
// are read.
#ifndef PETREL_EXIR_QUANTIZE_WIDE_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_WIDE_GRAPH_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "exir/ir/program.h"

namespace petrel::exir {

// Whether a node of a method may compute in f32.
using MayWiden = std::function<bool(const std::string& method, const Node& node)>;

// Floats of `type`, kBFloat16 or kHalf, become f32. Methods share weights as they did.
absl::Status widen_floats(Program& program, ScalarType type, const MayWiden& may_widen);

// Nodes convert between levels and floats of f32 in the place of `type`; of what is stored only
// weights of products of levels, and those of others that have a scale for each row. So do nodes
// whose operands are of both, as the weights of norms in PyTorch are of `type` beside f32.
absl::Status widen_levels(Program& program, ScalarType type, const MayWiden& may_widen);

// Whether it is a product by a weight that was dequantised in f32 and cast.
bool is_product_of_levels(const Node& node);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_WIDE_GRAPH_H_
