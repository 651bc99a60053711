// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/chained_joins.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

using Ids = std::vector<uint32_t>;

// Of one join; lists of more are not compared.
constexpr size_t kMaxLeaves = 128;
constexpr std::array kJoins = {NodeKind::Concatenate2, NodeKind::Concatenate3,
                               NodeKind::Concatenate4, NodeKind::Concatenate5};

class Chains {
 public:
  explicit Chains(Graph* graph)
      : graph_(*graph),
        readers_(graph->values.size(), 0),
        reader_(graph->values.size(), nullptr),
        is_joined_(graph->values.size(), false),
        leaves_(graph->values.size()),
        longest_(graph->values.size(), kNoId) {}

  void run() {
    for (Node& node : graph_.nodes) {
      for (const uint32_t id : node.inputs) {
        if (id == kNoId) continue;
        ++readers_[id];
        reader_[id] = &node;
      }
    }
    for (Node& node : graph_.nodes) {
      if (joins_channels(node)) chain(&node);
    }
    for (Node& node : graph_.nodes) fuse(&node);
  }

 private:
  bool is_image(uint32_t id) const {
    const Value& value = graph_.values[id];
    return value.dims.size() == 4 && value.datatype == Datatype::FP32 && !value.is_constant();
  }

  bool joins_channels(const Node& node) const {
    return find_node_kind(node.kind)->family == NodeFamily::kConcatenate && node.axis == 3 &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [this](uint32_t id) { return is_image(id); });
  }

  // Takes the longest join that begins with the same value, if this one goes on from there.
  void chain(Node* node) {
    const uint32_t out = node->outputs[0];
    Ids leaves;
    for (const uint32_t id : node->inputs) {
      is_joined_[id] = true;
      const Ids& of = leaves_[id];
      if (of.empty()) leaves.push_back(id);
      leaves.insert(leaves.end(), of.begin(), of.end());
    }
    is_joined_[out] = true;
    if (leaves.size() > kMaxLeaves) return;
    uint32_t& longest = longest_[leaves[0]];
    const size_t known = longest == kNoId ? 0 : leaves_[longest].size();
    if (known > 0 && known < leaves.size() && leaves.size() - known < kJoins.size() + 1 &&
        std::equal(leaves_[longest].begin(), leaves_[longest].end(), leaves.begin())) {
      node->inputs = {longest};
      node->inputs.insert(node->inputs.end(), leaves.begin() + static_cast<ptrdiff_t>(known),
                          leaves.end());
      node->kind = kJoins[node->inputs.size() - 2];
    }
    leaves_[out] = std::move(leaves);
    if (known < leaves_[out].size()) longest = out;
  }

  // Its operand that is one number for each of `channels`; kNoId for none.
  uint32_t channel_constant(const Node& node, uint32_t channels) const {
    for (const uint32_t id : node.inputs) {
      const Value& value = graph_.values[id];
      if (value.is_constant() && value.datatype == Datatype::FP32 && !value.dims.empty() &&
          value.dims.back() == channels && count_elements(value.dims) == channels &&
          value.dims.size() <= 4) {
        return id;
      }
    }
    return kNoId;
  }

  uint32_t make_constant(uint32_t like, Dims dims) {
    Value value = graph_.values[like];
    value.dims = std::move(dims);
    graph_.values.push_back(std::move(value));
    return static_cast<uint32_t>(graph_.values.size() - 1);
  }

  // A product with a constant whose only reader adds another one to it.
  void fuse(Node* node) {
    if (node->kind != NodeKind::Multiply || !node->is_unbounded()) return;
    const uint32_t product = node->outputs[0];
    if (!is_image(product) || graph_.values[product].is_output() || readers_[product] != 1) return;
    Node* sum = reader_[product];
    if (sum->kind != NodeKind::Add) return;
    const uint32_t channels = graph_.values[product].dims[3];
    const uint32_t factor = channel_constant(*node, channels);
    const uint32_t addend = channel_constant(*sum, channels);
    if (factor == kNoId || addend == kNoId) return;
    const uint32_t x = node->inputs[node->inputs[0] == factor ? 1 : 0];
    const bool is_whole = is_image(x) && graph_.values[x].dims == graph_.values[product].dims;
    if (!is_whole || !is_joined_[x]) return;
    sum->kind = NodeKind::DepthwiseConv2d;
    sum->inputs = {x, make_constant(factor, {1, 1, 1, channels}),
                   make_constant(addend, {channels})};
    sum->window = {};
    sum->channels = {channels, 1, 1, 0, 0};
  }

  Graph& graph_;
  std::vector<size_t> readers_;
  std::vector<Node*> reader_;
  std::vector<bool> is_joined_;
  std::vector<Ids> leaves_;  // by joint value
  Ids longest_;              // by first leaf
};

}  // namespace

void chain_joins(Graph* graph) {
  Chains(graph).run();
  remove_dead_nodes(graph);
}

}  // namespace petrel::backends::xnnpack
