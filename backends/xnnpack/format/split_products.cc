// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/split_products.h"

#include <algorithm>
#include <vector>

namespace petrel::backends::xnnpack {
namespace {

// Of third_party/xnnpack/split/split.h.
constexpr uint64_t kLeastRows = 8;
constexpr uint64_t kPanelDepth = 32;
constexpr uint64_t kPanelColumns = 64;

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
  if (node.winograd.threads != 0) return false;
  for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
    if (graph.values[id].datatype != Datatype::FP32) return false;
  }
  if (!graph.values[node.inputs[1]].is_constant()) return false;
  const Product product(graph, node);
  return product.rows >= kLeastRows && product.packed_weights() / 64 * 48 <= product.weights();
}

}  // namespace

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
