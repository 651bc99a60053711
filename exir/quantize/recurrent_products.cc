// SPDX-License-Identifier: Apache-2.0
#include "exir/quantize/recurrent_products.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <unordered_map>

#include "exir/ops/handles.h"
#include "exir/quantize/integer_roles.h"

namespace petrel::exir {
namespace {

using Nodes = std::set<const Node*>;

bool is_of_matrices(const Node& node) {
  return product_weight(node) != nullptr && !node.is(aten::convolution);
}

// The nodes of a graph, where those that multiply one weight are one.
class Layers {
 public:
  explicit Layers(const Graph& graph) {
    std::unordered_map<const Value*, size_t> of_weight;
    for (const auto& node : graph.nodes()) {
      size_t layer = members_.size();
      if (is_of_matrices(*node)) {
        layer = of_weight.emplace(product_weight(*node), layer).first->second;
      }
      if (layer == members_.size()) members_.emplace_back();
      members_[layer].push_back(node.get());
      layer_of_[node.get()] = layer;
    }
    next_.resize(members_.size());
    for (const auto& node : graph.nodes()) {
      std::vector<size_t>& next = next_[layer_of_.at(node.get())];
      for (size_t i = 0; i < node->num_results(); ++i) {
        for (const Node* user : node->result(i)->users()) next.push_back(layer_of_.at(user));
      }
    }
  }

  // Members of layers of several products from which a way leads back to them.
  Nodes in_cycles() const {
    Nodes nodes;
    const std::vector<size_t> cycles = cycles_of();
    std::vector<size_t> sizes(members_.size());
    for (const size_t cycle : cycles) ++sizes[cycle];
    for (size_t layer = 0; layer < members_.size(); ++layer) {
      if (members_[layer].size() < 2) continue;
      const std::vector<size_t>& next = next_[layer];
      const bool is_next = std::find(next.begin(), next.end(), layer) != next.end();
      if (!is_next && sizes[cycles[layer]] < 2) continue;
      nodes.insert(members_[layer].begin(), members_[layer].end());
    }
    return nodes;
  }

 private:
  // By layer, one number for all that reach each other: Tarjan's walk.
  std::vector<size_t> cycles_of() const {
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    std::vector<size_t> cycles(members_.size(), kNone), seen(members_.size(), kNone);
    std::vector<size_t> least(members_.size()), taken(members_.size());
    std::vector<size_t> way, open;
    size_t count = 0, num_cycles = 0;
    for (size_t start = 0; start < members_.size(); ++start) {
      if (seen[start] == kNone) way.push_back(start);
      while (!way.empty()) {
        const size_t layer = way.back();
        if (seen[layer] == kNone) {
          seen[layer] = least[layer] = count++;
          open.push_back(layer);
        }
        if (taken[layer] < next_[layer].size()) {
          const size_t next = next_[layer][taken[layer]++];
          if (seen[next] == kNone) {
            way.push_back(next);
          } else if (cycles[next] == kNone) {
            least[layer] = std::min(least[layer], seen[next]);
          }
          continue;
        }
        way.pop_back();
        if (!way.empty()) least[way.back()] = std::min(least[way.back()], least[layer]);
        if (least[layer] != seen[layer]) continue;
        size_t last = kNone;
        while (last != layer) {
          last = open.back();
          open.pop_back();
          cycles[last] = num_cycles;
        }
        ++num_cycles;
      }
    }
    return cycles;
  }

  std::vector<std::vector<const Node*>> members_;
  std::vector<std::vector<size_t>> next_;
  std::unordered_map<const Node*, size_t> layer_of_;
};

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
  Nodes nodes = Layers(graph).in_cycles();
  add_inputs(&nodes);
  std::vector<const Node*> in_order;
  for (const auto& node : graph.nodes()) {
    if (nodes.count(node.get()) != 0) in_order.push_back(node.get());
  }
  return in_order;
}

}  // namespace petrel::exir
