// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/recurrent_products.h"

#include <algorithm>
#include <map>
#include <set>

#include "exir/ops/handles.h"
#include "exir/quantize/integer_roles.h"

namespace petrel::exir {
namespace {

using Nodes = std::set<const Node*>;

bool is_of_matrices(const Node& node) {
  return product_weight(node) != nullptr && !node.is(aten::convolution);
}

// Whether what `from` makes gets to another of `products`, which multiply one weight.
bool comes_back(const Node* from, const std::vector<const Node*>& products) {
  const Nodes ends(products.begin(), products.end());
  Nodes seen = {from};
  std::vector<const Node*> open = {from};
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (size_t i = 0; i < node->num_results(); ++i) {
      for (const Node* user : node->result(i)->users()) {
        if (!seen.insert(user).second) continue;
        if (ends.count(user) != 0) return true;
        open.push_back(user);
      }
    }
  }
  return false;
}

// Adds the products that reach one of `nodes` through no other product.
void add_inputs(Nodes* nodes) {
  std::vector<const Node*> open(nodes->begin(), nodes->end());
  Nodes seen = *nodes;
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Value* operand : node->operands()) {
      const Node* const producer = operand->producer();
      if (producer == nullptr || !seen.insert(producer).second) continue;
      if (is_of_matrices(*producer)) nodes->insert(producer);
      if (product_weight(*producer) == nullptr) open.push_back(producer);
    }
  }
}

}  // namespace

std::vector<const Node*> recurrent_products(const Graph& graph) {
  std::map<const Value*, std::vector<const Node*>> by_weight;
  for (const auto& node : graph.nodes()) {
    if (is_of_matrices(*node)) by_weight[product_weight(*node)].push_back(node.get());
  }
  Nodes nodes;
  for (const auto& [weight, products] : by_weight) {
    if (products.size() < 2 || !comes_back(products[0], products)) continue;
    nodes.insert(products.begin(), products.end());
  }
  add_inputs(&nodes);
  std::vector<const Node*> in_order;
  for (const auto& node : graph.nodes()) {
    if (nodes.count(node.get()) != 0) in_order.push_back(node.get());
  }
  return in_order;
}

}  // namespace petrel::exir
