// SPDX-License-Identifier: Apache-2.0
#include "exir/pass/passes/dequantise_late.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <vector>

#include "exir/pass/framework/dequantised.h"

namespace petrel::exir {
namespace {

bool is_fixed(const Value* value) {
  return value->is_constant() && !value->constant()->is_mutable();
}

// Nodes that dequantise constants, and what is made of nothing but their results and
// constants.
std::set<const Node*> of_weights(const Graph& graph) {
  std::set<const Node*> found;
  for (const auto& node : graph.nodes()) {
    bool is_widened = dequantises(*node), is_known = node->is_pure() && node->regions().empty();
    for (const Value* operand : node->operands()) {
      const bool is_made = operand->producer() != nullptr && found.count(operand->producer()) > 0;
      is_widened = is_widened || is_made;
      is_known = is_known && (is_made || is_fixed(operand));
    }
    if (is_widened && is_known) found.insert(node.get());
  }
  return found;
}

bool is_output(const Node& node) {
  for (size_t i = 0; i < node.num_results(); ++i) {
    if (node.result(i)->output_uses() > 0) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> dequantise_late(Graph& graph, const PassContext&) {
  const std::set<const Node*> moved = of_weights(graph);
  if (moved.empty()) return false;
  // For each node the one that it stays with, and for that the first that does.
  const std::vector<Node*> nodes = graph.node_pointers();
  std::unordered_map<const Node*, size_t> stays_with;
  std::vector<Node*> first = nodes;
  bool changed = false;
  for (size_t i = nodes.size(); i-- > 0;) {
    Node* const node = nodes[i];
    stays_with[node] = i;
    if (moved.count(node) == 0 || is_output(*node)) continue;
    size_t user = nodes.size();
    for (size_t r = 0; r < node->num_results(); ++r) {
      for (const Node* one : node->result(r)->users()) user = std::min(user, stays_with.at(one));
    }
    if (user == nodes.size()) continue;
    stays_with[node] = user;
    if (graph.next(node) != first[user]) {
      graph.move_before(node, first[user]);
      changed = true;
    }
    first[user] = node;
  }
  return changed;
}

}  // namespace petrel::exir
