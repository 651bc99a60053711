// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/aot/merge_conversions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "backends/xnnpack/format/dead_nodes.h"
#include "backends/xnnpack/format/quantization.h"
#include "backends/xnnpack/format/scale_ratios.h"

namespace petrel::backends::xnnpack::aot {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

bool only_moves(NodeKind kind) {
  return kind == NodeKind::StaticTranspose || kind == NodeKind::StaticReshape ||
         kind == NodeKind::StaticSlice || kind == NodeKind::Copy;
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
    skip_round_trips();
    find_makers_and_users();
    for (Node& node : graph_.nodes) compute_with_integers(&node);
    remove_dead_nodes(&graph_);
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

  // move, Convert  ==>  Convert, move: where nobody else reads what was moved. From the
  // last node on, so that a conversion moves as far as it can.
  void move_quantize_up() {
    find_makers_and_users();
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
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
      graph_.nodes[i] = std::exchange(graph_.nodes[m], std::move(convert));
      makers_.push_back(m);
      users_.push_back({i});
    }
  }

  // Convert, Convert to the same levels  ==>  what was given. Not where the levels leave.
  void skip_round_trips() {
    find_makers_and_users();
    for (const Node& node : graph_.nodes) {
      const Node* before = is_quantize(node) ? dequantize_of(node.inputs[0]) : nullptr;
      const uint32_t out = node.outputs[0];
      if (before == nullptr || graph_.values[out].flags != 0) continue;
      const uint32_t given = before->inputs[0];
      const QuantParams& a = graph_.values[given].quant;
      const QuantParams& b = graph_.values[out].quant;
      if (a.scale != b.scale || a.zero_point != b.zero_point) continue;
      for (const size_t user : users_[out]) {
        std::vector<uint32_t>& ids = graph_.nodes[user].inputs;
        std::replace(ids.begin(), ids.end(), out, given);
      }
    }
  }

  // The conversion that alone reads `id`; kNobody when something else does.
  size_t quantize_of(uint32_t id) const {
    if (graph_.values[id].flags != 0 || users_[id].size() != 1) return kNobody;
    return is_quantize(graph_.nodes[users_[id][0]]) ? users_[id][0] : kNobody;
  }

  // Convert, node, Convert  ==>  node
  void compute_with_integers(Node* node) {
    // XNNPACK's slopes of integers have 8 bits behind the point: every fourth result or so is a
    // level off, where floats are off at none.
    if (node->kind == NodeKind::Convert || node->kind == NodeKind::LeakyRelu) return;
    const size_t after = quantize_of(node->outputs[0]);
    if (after == kNobody) return;
    Node changed = *node;
    bool has_integers = false;
    for (uint32_t& id : changed.inputs) {
      if (id == kNoId || graph_.values[id].is_constant()) continue;
      const Node* before = dequantize_of(id);
      if (before == nullptr) return;
      id = before->inputs[0];
      has_integers = true;
    }
    changed.outputs[0] = graph_.nodes[after].outputs[0];
    if (!has_integers || !check_datatypes(graph_, changed).ok() ||
        !check_scale_ratios(graph_, changed).ok()) {
      return;
    }
    // The conversion makes what nobody reads, and is dropped with the dead nodes.
    graph_.nodes[after].outputs[0] = node->outputs[0];
    *node = std::move(changed);
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
