// SPDX-License-Identifier: Apache-2.0
//
// Nodes that compute with floats of one type compute with those of another, between casts:
//
//   Retyping retyping;                     // f32 to f16, of the nodes y and r
//   before  %y = aten.linear.default(%x : f32[2,64], constant @w : f32[8,64], none)
//           %r = aten.relu.default(%y)
//           %n = aten.exp.default(%r)
//   after   %h = aten._to_copy.default(%x, f16)
//           %y = aten.linear.default(%h, constant @w@half : f16[8,64], none)
//           %r = aten.relu.default(%y)
//           %f = aten._to_copy.default(%r, f32)
//           %n = aten.exp.default(%f)
//
// A cast of the program between the two types at such a border is dropped: what it casts is
// there.
#ifndef PETREL_EXIR_QUANTIZE_RETYPE_GRAPH_H_
#define PETREL_EXIR_QUANTIZE_RETYPE_GRAPH_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "exir/ir/graph.h"

namespace petrel::exir {

struct Retyping {
  ScalarType from = ScalarType::kFloat;
  ScalarType to = ScalarType::kHalf;
  // A constant of `from` as one of `to`.
  std::function<absl::StatusOr<ConstantPtr>(const ConstantPtr&)> constant;
};

// Whether all that the node computes with and makes is of `type`, and nothing says so: what is
// written as a dtype stays what it is.
bool computes_in(const Node& node, ScalarType type);

// Precondition: all of `nodes` compute in retyping.from, or convert between such numbers and
// levels: what they are told of a type of floats is that one.
absl::Status retype(Graph& graph, const std::vector<Node*>& nodes, const Retyping& retyping);

}  // namespace petrel::exir

#endif  // PETREL_EXIR_QUANTIZE_RETYPE_GRAPH_H_
