// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/remove_dead_code.h"

#include <cstddef>
#include <vector>

namespace petrel::exir {
namespace {

bool is_dead(const Node& node) {
  if (!node.is_pure()) return false;
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->is_used()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> remove_dead_code(Graph& graph, const PassContext&) {
  bool changed = false;
  // From the end, so that a chain goes in one sweep.
  const std::vector<Node*> nodes = graph.node_pointers();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (!is_dead(**it)) continue;
    graph.erase(*it);
    changed = true;
  }
  for (Value* constant : graph.constants()) {
    if (constant->is_used()) continue;
    graph.erase_constant(constant);
    changed = true;
  }
  return changed;
}

}  // namespace petrel::exir
