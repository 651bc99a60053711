// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/additive_masks.h"

#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "exir/pass/framework/builder.h"
#include "exir/status_macros.h"

namespace petrel::exir {

absl::StatusOr<bool> additive_masks(Graph& graph, const PassContext& context) {
  if (!context.keep_whole || !graph.any_operator([](const OpInfo& op) {
        return op.is(aten::scaled_dot_product_attention);
      })) {
    return false;
  }
  // By mask and dtype of the scores.
  std::map<std::pair<const Value*, ScalarType>, Value*> made;
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->is(aten::scaled_dot_product_attention) || !context.keep_whole(node->op())) {
      continue;
    }
    const auto at = static_cast<size_t>(node->op().find_arg(arg::attn_mask));
    const Argument& argument = node->arguments()[at];
    if (!argument.is_value()) continue;
    Value* mask = argument.value();
    if (mask->tensor().dtype != ScalarType::kBool) continue;
    const ScalarType dtype = node->result()->tensor().dtype;
    Value*& sum = made[{mask, dtype}];
    if (sum == nullptr) {
      Builder b(graph, node);
      PETREL_ASSIGN_OR_RETURN(Value * zero, b.scalar(0.0, dtype));
      PETREL_ASSIGN_OR_RETURN(Value * low,
                              b.scalar(-std::numeric_limits<double>::infinity(), dtype));
      PETREL_ASSIGN_OR_RETURN(sum, b.call(aten::where_self, {mask, zero, low}));
    }
    node->set_argument(at, Argument(sum));
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
