// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/drop_assertions.h"

namespace petrel::exir {

absl::StatusOr<bool> drop_assertions(Graph& graph, const PassContext&) {
  if (!graph.any_operator([](const OpInfo& op) { return op.has(kEffect); })) return false;
  bool changed = false;
  for (Node* node : graph.node_pointers()) {
    if (!node->op().has(kEffect) || node->num_results() > 0) continue;
    graph.erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
