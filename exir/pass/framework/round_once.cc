// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/framework/round_once.h"

#include <utility>
#include <vector>

#include "exir/status_macros.h"

namespace petrel::exir {

bool rounds_to_16_bits(const Node& node) {
  const ScalarType type = node.result()->tensor().dtype;
  return type == ScalarType::kHalf || type == ScalarType::kBFloat16;
}

absl::StatusOr<bool> compute_in_f32(Builder& b, Node& node) {
  std::vector<Argument> arguments = node.arguments();
  for (Argument& argument : arguments) {
    for (Value* value : argument.values()) {
      if (!value->type().is_tensor()) continue;
      PETREL_ASSIGN_OR_RETURN(Value* const wide, b.cast(value, ScalarType::kFloat));
      argument.replace(value, wide);
    }
  }
  PETREL_ASSIGN_OR_RETURN(Node* const made, b.node(node.op(), std::move(arguments)));
  return done(b, node, b.cast(made->result(), node.result()->tensor().dtype));
}

}  // namespace petrel::exir
