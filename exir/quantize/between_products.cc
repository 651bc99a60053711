// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/between_products.h"

#include <algorithm>
#include <vector>

#include "exir/quantize/integer_roles.h"

namespace petrel::exir {
namespace {

using Nodes = std::set<const Node*>;

bool is_product(const Node& node) { return product_weight(node) != nullptr; }

bool moves(const Node& node) { return role_of(node, QuantTarget::kBackends) == IntegerRole::kMove; }

std::vector<Value*> inputs_of(const Node& node) {
  return level_inputs(node, QuantTarget::kBackends);
}

class Edges {
 public:
  Edges(const Graph& graph, const Nodes& nodes) : graph_(graph), nodes_(nodes) {
    for (const BufferWrite& write : graph.buffer_writes()) {
      state_.insert(write.buffer);
      state_.insert(write.value);
    }
  }

  Nodes run() {
    leave_leading();
    find_read();
    leave_unread();
    return std::move(nodes_);
  }

 private:
  bool is_in(const Node* node) const { return node != nullptr && nodes_.count(node) != 0; }

  // Whether what makes a value leaves integers, elements that only move aside. State has levels.
  bool is_in_levels(const Value* value) const {
    if (state_.count(value) != 0) return true;
    const Node* const producer = value->producer();
    return is_in(producer) && in_levels_.count(producer) != 0;
  }

  // Behind floats alone, what is no product computes with floats, too.
  void leave_leading() {
    for (const auto& node : graph_.nodes()) {
      if (!is_in(node.get())) continue;
      const std::vector<Value*> inputs = inputs_of(*node);
      const bool has_levels = std::any_of(inputs.begin(), inputs.end(),
                                          [&](const Value* input) { return is_in_levels(input); });
      if (is_product(*node) || has_levels) {
        in_levels_.insert(node.get());
      } else if (!moves(*node)) {
        nodes_.erase(node.get());
      }
    }
  }

  // Which results get to a product, through nodes of integers.
  void find_read() {
    const auto& nodes = graph_.nodes();
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node* const node = it->get();
      if (!is_in(node)) continue;
      const std::vector<Node*>& users = node->result()->users();
      const bool is_read = state_.count(node->result()) != 0 ||
                           std::any_of(users.begin(), users.end(), [&](const Node* user) {
                             return is_in(user) && (is_product(*user) || read_.count(user) != 0);
                           });
      if (is_read) read_.insert(node);
    }
  }

  // Merged into a product, or its elements moved beside one, a result costs nothing more.
  bool stays_with_product(const Node& node) const {
    if (is_product(node)) return true;
    const std::vector<Value*> inputs = inputs_of(node);
    if (inputs.size() != 1 || !is_in(inputs[0]->producer())) return false;
    const bool is_merged =
        is_clamp(node) && is_product(*inputs[0]->producer()) && inputs[0]->has_single_user();
    return is_merged || moves(node);
  }

  void leave_unread() {
    for (const auto& node : graph_.nodes()) {
      if (!is_in(node.get()) || read_.count(node.get()) != 0) continue;
      if (!stays_with_product(*node)) nodes_.erase(node.get());
    }
  }

  const Graph& graph_;
  Nodes nodes_;
  std::set<const Value*> state_;
  Nodes in_levels_;
  Nodes read_;
};

}  // namespace

std::set<const Node*> between_products(const Graph& graph, const std::set<const Node*>& nodes) {
  return Edges(graph, nodes).run();
}

}  // namespace petrel::exir
