// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/structure_bytes.h"

#include "backends/xnnpack/format/node_kind.h"
#include "backends/xnnpack/format/operator_bytes.h"
#include "backends/xnnpack/format/widened.h"

namespace petrel::backends::xnnpack {
namespace {

// Of XNNPACK and of lists of dims and ids, rounded up: a value is 176 bytes there, a node
// with its operator 2768.
constexpr uint64_t kOtherBytesOfValue = 256;
constexpr uint64_t kOtherBytesOfNode = 3072;
// An operator beside the first of its node: 2032 bytes, aligned.
constexpr uint64_t kBytesOfOperator = 2304;

// A joint copies each of its inputs by an operator of its own.
uint64_t count_more_operators(const Node& node) {
  const bool joins = find_node_kind(node.kind)->family == NodeFamily::kConcatenate;
  // That of attention is larger than others.
  if (node.attention != nullptr) return 1;
  return joins ? node.inputs.size() - 1 : 0;
}

}  // namespace

uint64_t count_added_nodes(const Graph& graph, const Node& node) {
  return is_pair_with_range(node) ? 1 : widened(graph, node).count();
}

uint64_t structure_bytes(uint64_t values, uint64_t nodes, uint64_t constants) {
  return values * (sizeof(Value) + kOtherBytesOfValue) +
         nodes * (sizeof(Node) + kOtherBytesOfNode) + constants * sizeof(ConstantData);
}

uint64_t structure_bytes(const Graph& graph) {
  uint64_t bytes = structure_bytes(graph.values.size(), graph.nodes.size(), graph.constants.size());
  for (const Node& node : graph.nodes) {
    bytes += count_more_operators(node) * kBytesOfOperator;
    bytes += count_added_nodes(graph, node) * (kOtherBytesOfNode + kOtherBytesOfValue);
  }
  return bytes;
}

}  // namespace petrel::backends::xnnpack
