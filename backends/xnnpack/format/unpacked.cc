// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/unpacked.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backends/xnnpack/format/work.h"

namespace petrel::backends::xnnpack {
namespace {

constexpr uint64_t kLeastBytes = 2 << 20;

// By constant, how many inputs of nodes read it.
std::vector<uint32_t> count_readers(const Graph& graph) {
  std::vector<uint32_t> readers(graph.constants.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const uint32_t id : node.inputs) {
      if (id != kNoId) ++readers[graph.values[id].constant];
    }
  }
  return readers;
}

bool is_of_floats(const Graph& graph, const Node& node) {
  for (const uint32_t id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
    if (graph.values[id].datatype != Datatype::FP32) return false;
  }
  return node.inputs[2] == kNoId || (graph.values[node.inputs[2]].is_constant() &&
                                     graph.values[node.inputs[2]].datatype == Datatype::FP32);
}

bool is_of_one_row(const Graph& graph, const Node& node) {
  const Dims& dims = graph.values[node.outputs[0]].dims;
  return !dims.empty() && count_elements(dims) == dims.back();
}

// A convolution of pixels is a product of their channels.
bool is_of_pixels(const Graph& graph, const Node& node) {
  return node.kind == NodeKind::Conv2d && node.window == Window() && node.channels.groups == 1 &&
         node.winograd.threads == 0 && graph.values[node.inputs[1]].dims.size() == 4;
}

bool is_product(const Graph& graph, const Node& node) {
  return (node.kind == NodeKind::FullyConnected && (node.flags & kTransposeWeights) == 0) ||
         is_of_pixels(graph, node);
}

bool is_worth_it(const Graph& graph, const Node& node) {
  if (!is_product(graph, node) || node.is_split || !is_of_floats(graph, node)) return false;
  const Value& weights = graph.values[node.inputs[1]];
  return weights.is_constant() && graph.constants[weights.constant].is_named() &&
         count_bytes(weights) >= kLeastBytes && is_of_one_row(graph, node);
}

// [outputs, 1, 1, inputs] to [outputs, inputs].
void become_product(Graph* graph, Node* node) {
  Dims& dims = graph->values[node->inputs[1]].dims;
  dims = {dims[0], dims[3]};
  node->kind = NodeKind::FullyConnected;
  node->flags = 0;
}

// Below 2^64: a value has at most 2^34 bytes, a graph fewer than 2^30.
uint64_t bytes_of_constants(const Graph& graph) {
  std::vector<uint64_t> bytes(graph.constants.size(), 0);
  for (const Value& value : graph.values) {
    bytes[value.constant] = std::max(bytes[value.constant], count_bytes(value));
  }
  return std::accumulate(bytes.begin() + 1, bytes.end(), uint64_t{0});
}

// Whether a cache has the weights when a run begins, and reading `unpacked` bytes of them packed
// would make it a twentieth faster: at 76 bytes per nanosecond instead of 45, where all else is 50
// multiply-adds per nanosecond.
bool are_better_packed(const Graph& graph, uint64_t unpacked, uint64_t cache_bytes) {
  // Values need some of it.
  if (bytes_of_constants(graph) > cache_bytes / 2) return false;
  constexpr uint64_t kOthersOfOneByte = 8;
  const uint64_t all = count_multiply_adds(graph);
  return all - std::min(all, unpacked / sizeof(float)) < kOthersOfOneByte * unpacked;
}

}  // namespace

void choose_unpacked(Graph* graph, uint64_t cache_bytes, const IsInPlace& is_in_place) {
  const std::vector<uint32_t> readers = count_readers(*graph);
  uint64_t unpacked = 0;
  for (Node& node : graph->nodes) {
    node.is_unpacked = false;
    if (!is_worth_it(*graph, node)) continue;
    const Value& weights = graph->values[node.inputs[1]];
    node.is_unpacked =
        readers[weights.constant] == 1 && is_in_place(graph->constants[weights.constant].key);
    if (node.is_unpacked) unpacked += count_bytes(weights);
  }
  const bool packs_all = are_better_packed(*graph, unpacked, cache_bytes);
  for (Node& node : graph->nodes) {
    node.is_unpacked = node.is_unpacked && !packs_all;
    if (node.is_unpacked && node.kind == NodeKind::Conv2d) become_product(graph, &node);
  }
}

}  // namespace petrel::backends::xnnpack
