// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/algorithms.h"

#include <algorithm>
#include <vector>

#include "backends/xnnpack/format/node_kind.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint32_t kLeastChannels = 16;
constexpr uint64_t kLeastSumOfChannels = 48;
constexpr uint64_t kLeastTiles = 16;
// Of filters as they were, for those of chosen nodes: three tenths.
constexpr uint64_t kAllowedTenths = 3;
// For filters that are transformed in each run: fewer tiles are not worth it.
constexpr uint64_t kLeastTilesForEachRun = 49;
constexpr uint64_t kMostBytes = uint64_t{1} << 56;

// Of split products (third_party/xnnpack/split/split.h).
constexpr uint64_t kLeastRows = 8;
constexpr uint64_t kPanelDepth = 32;
constexpr uint64_t kPanelColumns = 64;

uint64_t count_tiles(const Graph& graph, const Node& node) {
  const Dims& out = graph.values[node.outputs[0]].dims;
  return uint64_t{out[0]} * ((uint64_t{out[1]} + 1) / 2) * ((uint64_t{out[2]} + 1) / 2);
}

uint64_t filter_bytes(const Graph& graph, const Node& node) {
  return count_bytes(graph.values[node.inputs[1]]);
}

// 16 products in place of 9 weights.
uint64_t further_bytes(const Graph& graph, const Node& node) {
  return filter_bytes(graph, node) / 9 * 7;
}

// Of what it reads and writes but constants. A value counts as if it had no more than kMostBytes,
// so that sums hold.
uint64_t operand_bytes(const Graph& graph, const Node& node) {
  uint64_t sum = 0;
  for (const std::vector<uint32_t>* ids : {&node.inputs, &node.outputs}) {
    for (const uint32_t id : *ids) {
      if (id == kNoId || graph.values[id].is_constant()) continue;
      sum += std::min(count_bytes(graph.values[id]), kMostBytes);
    }
  }
  return sum;
}

uint64_t most_operand_bytes(const Graph& graph) {
  uint64_t most = 0;
  for (const Node& node : graph.nodes) most = std::max(most, operand_bytes(graph, node));
  return most;
}

// `most` is what the node of the graph with the most operands has of them.
bool may_transform_each_run(const Graph& graph, const Node& node, uint64_t most) {
  const uint64_t transformed = std::min(filter_bytes(graph, node), kMostBytes) / 9 * 16;
  return count_tiles(graph, node) >= kLeastTilesForEachRun &&
         operand_bytes(graph, node) + transformed <= most / 10 * 11;
}

bool is_worth_it(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Conv2d) return false;
  const Window& w = node.window;
  const Channels& c = node.channels;
  const bool is_possible = w.kernel_height == 3 && w.kernel_width == 3 && w.stride_height == 1 &&
                           w.stride_width == 1 && w.dilation_height == 1 && w.dilation_width == 1 &&
                           c.groups == 1;
  if (!is_possible) return false;
  for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
    if (graph.values[id].datatype != Datatype::FP32) return false;
  }
  return graph.values[node.inputs[1]].is_constant() && c.group_input_channels >= kLeastChannels &&
         c.group_output_channels >= kLeastChannels &&
         uint64_t{c.group_input_channels} + c.group_output_channels >= kLeastSumOfChannels &&
         count_tiles(graph, node) >= kLeastTiles;
}

// A filter is [columns, taps..., depth], or [depth, columns] if it is transposed.
struct Product {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint64_t taps = 0;
  uint64_t depth = 0;

  Product(const Graph& graph, const Node& node) {
    const Dims& out = graph.values[node.outputs[0]].dims;
    const Dims& filter = graph.values[node.inputs[1]].dims;
    columns = out.back();
    rows = columns == 0 ? 0 : count_elements(out) / columns;
    const bool is_convolution = node.kind == NodeKind::Conv2d;
    depth = is_convolution ? node.channels.group_input_channels
                           : count_elements(filter) / std::max<uint64_t>(columns, 1);
    taps = is_convolution ? uint64_t{node.window.kernel_height} * node.window.kernel_width : 1;
  }
  uint64_t weights() const { return taps * depth * columns; }
  uint64_t packed_weights() const {
    const auto filled = [](uint64_t count, uint64_t by) { return (count + by - 1) / by * by; };
    return taps * filled(depth, kPanelDepth) * filled(columns, kPanelColumns);
  }
};

bool is_worth_splitting(const Graph& graph, const Node& node) {
  const bool is_convolution = node.kind == NodeKind::Conv2d && node.channels.groups == 1;
  if (!is_convolution && node.kind != NodeKind::FullyConnected) return false;
  if (node.winograd_threads != 0) return false;
  for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
    if (graph.values[id].datatype != Datatype::FP32) return false;
  }
  if (!graph.values[node.inputs[1]].is_constant()) return false;
  const Product product(graph, node);
  return product.rows >= kLeastRows && product.packed_weights() / 64 * 48 <= product.weights();
}

uint64_t all_filter_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (!find_node_kind(node.kind)->has_bias) continue;
    if (graph.values[node.inputs[1]].is_constant()) sum += filter_bytes(graph, node);
  }
  return sum;
}

}  // namespace

void choose_algorithms(Graph* graph, uint32_t threads) {
  std::vector<Node*> candidates;
  for (Node& node : graph->nodes) {
    node.winograd_threads = 0;
    node.transforms_each_run = false;
    if (is_worth_it(*graph, node)) candidates.push_back(&node);
  }
  if (candidates.empty()) return;
  std::stable_sort(candidates.begin(), candidates.end(), [graph](const Node* a, const Node* b) {
    return count_tiles(*graph, *a) > count_tiles(*graph, *b);
  });
  uint64_t left = all_filter_bytes(*graph) / 10 * kAllowedTenths;
  const uint64_t most = most_operand_bytes(*graph);
  for (Node* node : candidates) {
    const uint64_t bytes = further_bytes(*graph, *node);
    if (bytes <= left) {
      left -= bytes;
      node->winograd_threads = threads;
    } else if (may_transform_each_run(*graph, *node, most)) {
      node->winograd_threads = threads;
      node->transforms_each_run = true;
    }
  }
}

uint64_t count_winograd_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (node.winograd_threads != 0 && !node.transforms_each_run) sum += further_bytes(graph, node);
  }
  return sum;
}

void choose_split_products(Graph* graph) {
  for (Node& node : graph->nodes) node.is_split = is_worth_splitting(*graph, node);
}

uint64_t count_split_bytes(const Graph& graph) {
  uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (!node.is_split) continue;
    const Product product(graph, node);
    sum += (product.packed_weights() - product.weights()) * sizeof(float);
  }
  return sum;
}

}  // namespace petrel::backends::xnnpack
