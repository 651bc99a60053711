// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/channels_last.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/inner_value.h"
#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

using Ids = std::vector<uint32_t>;
using List = std::vector<uint32_t>;

const List kToLast = {0, 2, 3, 1};
const List kToFirst = {0, 3, 1, 2};
// Groups of channels, beside each other in the first and in the last place.
const List kGroupsToLast = {0, 3, 4, 1, 2};
const List kShuffleFirst = {0, 2, 1, 3, 4};
const List kShuffleLast = {0, 1, 2, 4, 3};

List pick(const List& from, const List& order) {
  List out;
  for (const uint32_t place : order) out.push_back(from[place]);
  return out;
}

// The three nodes of a shuffle, by their places; those of others are empty.
struct Shuffle {
  const Node* spread = nullptr;
  const Node* turn = nullptr;
  const Node* gather = nullptr;
};

class Rewrite {
 public:
  explicit Rewrite(Graph* graph) : graph_(*graph), old_(std::move(graph->nodes)) {
    const size_t count = graph_.values.size();
    maker_.assign(count, nullptr);
    twin_.assign(count, kNoId);
    same_.assign(count, kNoId);
    is_wanted_.assign(count, false);
    for (const Node& node : old_) {
      for (const uint32_t id : node.outputs) maker_[id] = &node;
    }
    graph_.nodes.clear();
  }

  void run() {
    // Readers come behind what they read.
    for (size_t i = old_.size(); i-- > 0;) mark(old_[i]);
    for (const Node& node : old_) rewrite(node);
  }

 private:
  static bool is_image(const Value& value) {
    return value.dims.size() == 4 && (value.quantization == Quantization::kNone ||
                                      value.quantization == Quantization::kPerTensor);
  }

  bool moves_channels(const Node& node) const {
    const NodeFamily family = find_node_kind(node.kind)->family;
    const bool moves = family == NodeFamily::kSlice || family == NodeFamily::kConcatenate;
    return moves && is_image(graph_.values[node.outputs[0]]);
  }

  bool is_transpose(const Node& node, const List& order) const {
    return node.kind == NodeKind::StaticTranspose && node.list == order &&
           is_image(graph_.values[node.outputs[0]]);
  }

  // The shuffle that ends with this node.
  Shuffle shuffle_of(const Node& gather) const {
    if (gather.kind != NodeKind::StaticReshape) return {};
    const Node* turn = maker_[gather.inputs[0]];
    if (turn == nullptr || turn->kind != NodeKind::StaticTranspose || turn->list != kShuffleFirst) {
      return {};
    }
    const Node* spread = maker_[turn->inputs[0]];
    if (spread == nullptr || spread->kind != NodeKind::StaticReshape) return {};
    const Value& from = graph_.values[spread->inputs[0]];
    const Value& to = graph_.values[gather.outputs[0]];
    const Dims& groups = graph_.values[spread->outputs[0]].dims;
    const bool keeps_sizes = is_image(from) && from.dims == to.dims && spread->list.size() == 5 &&
                             gather.list.size() == 4 && groups[0] == from.dims[0] &&
                             groups[3] == from.dims[2] && groups[4] == from.dims[3];
    if (!keeps_sizes) return {};
    return {spread, turn, &gather};
  }

  // What a node that turns an image back reads is wanted with channels last, and what that
  // is made of.
  void mark(const Node& node) {
    const uint32_t out = node.outputs[0];
    if (is_transpose(node, kToLast)) is_wanted_[node.inputs[0]] = true;
    if (!is_wanted_[out]) return;
    if (moves_channels(node)) {
      for (const uint32_t id : node.inputs) is_wanted_[id] = true;
    } else if (const Shuffle shuffle = shuffle_of(node); shuffle.gather != nullptr) {
      is_wanted_[shuffle.spread->inputs[0]] = true;
    }
  }

  void rewrite(const Node& node) {
    const uint32_t out = node.outputs[0];
    if (is_transpose(node, kToLast) && twin_[node.inputs[0]] != kNoId &&
        !graph_.values[out].is_output()) {
      same_[out] = twin_[node.inputs[0]];
      return;
    }
    const Shuffle shuffle = is_wanted_[out] ? shuffle_of(node) : Shuffle{};
    if (is_wanted_[out] && moves_channels(node) && all_have_twins(node.inputs)) {
      move(node);
    } else if (shuffle.gather != nullptr && twin_[shuffle.spread->inputs[0]] != kNoId) {
      move(shuffle);
    } else {
      Node& kept = keep(node);
      if (is_transpose(kept, kToFirst)) twin_[out] = kept.inputs[0];
    }
  }

  bool all_have_twins(const Ids& ids) const {
    return std::all_of(ids.begin(), ids.end(), [this](uint32_t id) { return twin_[id] != kNoId; });
  }

  Node& keep(const Node& node) {
    graph_.nodes.push_back(node);
    for (uint32_t& id : graph_.nodes.back().inputs) {
      if (id != kNoId && same_[id] != kNoId) id = same_[id];
    }
    return graph_.nodes.back();
  }

  uint32_t make(uint32_t like, Dims dims) {
    same_.push_back(kNoId);
    return add_inner_value(&graph_, like, std::move(dims));
  }

  Node& add(const Node& like, Ids inputs, uint32_t output) {
    graph_.nodes.push_back(like);
    graph_.nodes.back().inputs = std::move(inputs);
    graph_.nodes.back().outputs = {output};
    return graph_.nodes.back();
  }

  // The value as it was is made from its twin, for those who read it so.
  void turn(const Node& like, uint32_t out, uint32_t twin) {
    twin_[out] = twin;
    Node transpose;
    transpose.kind = NodeKind::StaticTranspose;
    transpose.debug_handle = like.debug_handle;
    transpose.list = kToFirst;
    add(transpose, {twin}, out);
  }

  void move(const Node& node) {
    const uint32_t out = node.outputs[0];
    Ids inputs;
    for (const uint32_t id : node.inputs) inputs.push_back(twin_[id]);
    const uint32_t twin = make(out, pick(graph_.values[out].dims, kToLast));
    Node& moved = add(node, std::move(inputs), twin);
    if (find_node_kind(node.kind)->family == NodeFamily::kSlice) {
      moved.list = pick(node.list, kToLast);
      moved.list2 = pick(node.list2, kToLast);
    } else {
      moved.axis = kToFirst[node.axis];
    }
    turn(node, out, twin);
  }

  void move(const Shuffle& shuffle) {
    const uint32_t out = shuffle.gather->outputs[0];
    const Dims groups = pick(graph_.values[shuffle.spread->outputs[0]].dims, kGroupsToLast);
    const uint32_t spread = make(out, groups);
    const uint32_t turned = make(out, pick(groups, kShuffleLast));
    const uint32_t twin = make(out, pick(graph_.values[out].dims, kToLast));
    add(*shuffle.spread, {twin_[shuffle.spread->inputs[0]]}, spread).list =
        pick(shuffle.spread->list, kGroupsToLast);
    add(*shuffle.turn, {spread}, turned).list = kShuffleLast;
    add(*shuffle.gather, {turned}, twin).list = pick(shuffle.gather->list, kToLast);
    turn(*shuffle.gather, out, twin);
  }

  Graph& graph_;
  const std::vector<Node> old_;
  std::vector<const Node*> maker_;
  std::vector<uint32_t> twin_;  // by value, the same image with channels last
  std::vector<uint32_t> same_;  // by value, another one that it is
  std::vector<bool> is_wanted_;
};

}  // namespace

void keep_channels_last(Graph* graph) {
  const bool turns_any =
      std::any_of(graph->nodes.begin(), graph->nodes.end(), [](const Node& node) {
        return node.kind == NodeKind::StaticTranspose && node.list == kToLast;
      });
  if (!turns_any) return;
  Rewrite(graph).run();
  remove_dead_nodes(graph);
}

}  // namespace petrel::backends::xnnpack
