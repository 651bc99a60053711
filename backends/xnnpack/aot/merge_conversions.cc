// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/merge_conversions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/xnnpack/format/quantization.h"
#include "backends/xnnpack/format/scale_ratios.h"

namespace petrel::backends::xnnpack::aot {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

bool only_moves(NodeKind kind) {
  return kind == NodeKind::StaticTranspose || kind == NodeKind::StaticReshape ||
         kind == NodeKind::StaticSlice || kind == NodeKind::Copy;
}

bool is_same(const QuantParams& a, const QuantParams& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}

class Merging {
 public:
  Merging(Graph* graph, std::vector<Extents>* sizes) : graph_(*graph), sizes_(*sizes) {}

  void run() {
    if (std::none_of(graph_.nodes.begin(), graph_.nodes.end(),
                     [](const Node& node) { return node.kind == NodeKind::Convert; })) {
      return;
    }
    move_dequantize_down();
    move_quantize_up();
    for (Node& node : graph_.nodes) compute_with_integers(&node);
    drop_unused_nodes();
    drop_unused_values();
  }

 private:
  bool is_dequantize(const Node& node) const {
    return node.kind == NodeKind::Convert && type_of(node.inputs[0]) == Datatype::QINT8 &&
           type_of(node.outputs[0]) == Datatype::FP32;
  }
  bool is_quantize(const Node& node) const {
    return node.kind == NodeKind::Convert && type_of(node.inputs[0]) == Datatype::FP32 &&
           type_of(node.outputs[0]) == Datatype::QINT8;
  }
  Datatype type_of(uint32_t id) const { return graph_.values[id].datatype; }

  const Node* dequantize_of(uint32_t id) const {
    const size_t i = makers_[id];
    return i != kNobody && is_dequantize(graph_.nodes[i]) ? &graph_.nodes[i] : nullptr;
  }

  void find_makers_and_users() {
    makers_.assign(graph_.values.size(), kNobody);
    users_.assign(graph_.values.size(), {});
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      makers_[graph_.nodes[i].outputs[0]] = i;
      for (const uint32_t id : graph_.nodes[i].inputs) {
        if (id != kNoId) users_[id].push_back(i);
      }
    }
  }

  // An int8 value of the sizes of `like`.
  uint32_t add_quantized(uint32_t like, const QuantParams& quant) {
    Value value;
    value.dims = graph_.values[like].dims;
    value.datatype = Datatype::QINT8;
    value.quantization = Quantization::kPerTensor;
    value.quant = quant;
    graph_.values.push_back(std::move(value));
    sizes_.push_back(Extents(sizes_[like]));
    return static_cast<uint32_t>(graph_.values.size() - 1);
  }

  static Node conversion(uint32_t from, uint32_t to, uint32_t debug_handle) {
    Node node;
    node.kind = NodeKind::Convert;
    node.inputs = {from};
    node.outputs = {to};
    node.debug_handle = debug_handle;
    return node;
  }

  // Convert, move  ==>  move, Convert
  void move_dequantize_down() {
    std::vector<uint32_t> integers(graph_.values.size(), kNoId);  // of a dequantised value
    std::vector<Node> nodes;
    for (Node& node : graph_.nodes) {
      const uint32_t out = node.outputs[0];
      integers.resize(graph_.values.size(), kNoId);
      if (is_dequantize(node)) integers[out] = node.inputs[0];
      const uint32_t from = only_moves(node.kind) ? integers[node.inputs[0]] : kNoId;
      if (from == kNoId) {
        nodes.push_back(std::move(node));
        continue;
      }
      const uint32_t moved = add_quantized(out, graph_.values[from].quant);
      integers.resize(graph_.values.size(), kNoId);
      integers[out] = moved;
      const uint32_t debug_handle = node.debug_handle;
      node.inputs[0] = from;
      node.outputs[0] = moved;
      nodes.push_back(std::move(node));
      nodes.push_back(conversion(moved, out, debug_handle));
    }
    graph_.nodes = std::move(nodes);
  }

  // move, Convert  ==>  Convert, move: where nobody else reads what was moved.
  void move_quantize_up() {
    bool changed = true;
    while (changed) {
      changed = false;
      find_makers_and_users();
      for (size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (!is_quantize(graph_.nodes[i])) continue;
        const uint32_t moved = graph_.nodes[i].inputs[0];
        const size_t m = makers_[moved];
        if (m == kNobody || !only_moves(graph_.nodes[m].kind) || users_[moved].size() != 1 ||
            graph_.values[moved].flags != 0) {
          continue;
        }
        const uint32_t from = graph_.nodes[m].inputs[0];
        if (graph_.values[from].is_constant()) continue;
        const uint32_t out = graph_.nodes[i].outputs[0];
        const uint32_t quantized = add_quantized(from, graph_.values[out].quant);
        Node convert = conversion(from, quantized, graph_.nodes[i].debug_handle);
        graph_.nodes[m].inputs[0] = quantized;
        graph_.nodes[m].outputs[0] = out;
        graph_.nodes[i] = graph_.nodes[m];
        graph_.nodes[m] = std::move(convert);
        changed = true;
        find_makers_and_users();
      }
    }
    find_makers_and_users();
  }

  // The conversion that alone reads `id`, with others that make the same of it; none when
  // something else does.
  std::vector<size_t> quantize_users(uint32_t id) const {
    if (graph_.values[id].flags != 0 || users_[id].empty()) return {};
    const uint32_t first = graph_.nodes[users_[id][0]].outputs[0];
    for (const size_t user : users_[id]) {
      const Node& node = graph_.nodes[user];
      const bool is_alike = is_quantize(node) && is_same(graph_.values[node.outputs[0]].quant,
                                                         graph_.values[first].quant);
      const bool is_free = user == users_[id][0] || graph_.values[node.outputs[0]].flags == 0;
      if (!is_alike || !is_free) return {};
    }
    return users_[id];
  }

  void compute_with_integers(Node* node) {
    if (node->kind == NodeKind::Convert) return;
    const std::vector<size_t> after = quantize_users(node->outputs[0]);
    if (after.empty()) return;
    Node changed = *node;
    bool has_integers = false;
    for (uint32_t& id : changed.inputs) {
      if (id == kNoId || graph_.values[id].is_constant()) continue;
      const Node* before = dequantize_of(id);
      if (before == nullptr) return;
      id = before->inputs[0];
      has_integers = true;
    }
    const uint32_t result = graph_.nodes[after[0]].outputs[0];
    changed.outputs[0] = result;
    if (!has_integers || !check_datatypes(graph_, changed).ok() ||
        !check_scale_ratios(graph_, changed).ok()) {
      return;
    }
    *node = std::move(changed);
    makers_[result] = static_cast<size_t>(node - graph_.nodes.data());
    for (const size_t i : after) {
      Node& convert = graph_.nodes[i];
      const uint32_t same = convert.outputs[0];
      convert.outputs[0] = kNoId;  // dropped
      for (const size_t user : users_[same]) {
        for (uint32_t& id : graph_.nodes[user].inputs) {
          if (id == same) id = result;
        }
        if (same != result) users_[result].push_back(user);
      }
    }
  }

  // Conversions that were merged, and what only they needed.
  void drop_unused_nodes() {
    std::vector<bool> is_needed(graph_.values.size(), false);
    for (size_t id = 0; id < is_needed.size(); ++id) {
      is_needed[id] = graph_.values[id].is_output();
    }
    std::vector<Node> nodes;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (node->outputs[0] == kNoId || !is_needed[node->outputs[0]]) continue;
      for (const uint32_t id : node->inputs) {
        if (id != kNoId) is_needed[id] = true;
      }
      nodes.push_back(std::move(*node));
    }
    std::reverse(nodes.begin(), nodes.end());
    graph_.nodes = std::move(nodes);
  }

  void drop_unused_values() {
    std::vector<bool> is_used(graph_.values.size(), false);
    for (size_t id = 0; id < is_used.size(); ++id) is_used[id] = graph_.values[id].flags != 0;
    for (const Node& node : graph_.nodes) {
      for (const auto* ids : {&node.inputs, &node.outputs}) {
        for (const uint32_t id : *ids) {
          if (id != kNoId) is_used[id] = true;
        }
      }
    }
    std::vector<uint32_t> places(graph_.values.size(), kNoId);
    std::vector<Value> values;
    std::vector<Extents> sizes;
    for (size_t id = 0; id < is_used.size(); ++id) {
      if (!is_used[id]) continue;
      places[id] = static_cast<uint32_t>(values.size());
      values.push_back(std::move(graph_.values[id]));
      sizes.push_back(std::move(sizes_[id]));
    }
    graph_.values = std::move(values);
    sizes_ = std::move(sizes);
    for (Node& node : graph_.nodes) {
      for (auto* ids : {&node.inputs, &node.outputs}) {
        for (uint32_t& id : *ids) {
          if (id != kNoId) id = places[id];
        }
      }
    }
  }

  Graph& graph_;
  std::vector<Extents>& sizes_;
  std::vector<size_t> makers_;              // by value
  std::vector<std::vector<size_t>> users_;  // by value
};

}  // namespace

void merge_conversions(Graph* graph, std::vector<Extents>* sizes) { Merging(graph, sizes).run(); }

}  // namespace petrel::backends::xnnpack::aot
