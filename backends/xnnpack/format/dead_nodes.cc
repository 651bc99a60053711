// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/dead_nodes.h"

#include <algorithm>
#include <vector>

namespace petrel::backends::xnnpack {

void remove_dead_nodes(Graph* graph) {
  std::vector<bool> is_read(graph->values.size());
  for (size_t id = 0; id < is_read.size(); ++id) is_read[id] = graph->values[id].is_output();
  std::vector<bool> is_alive(graph->nodes.size());
  // Nodes come behind those whose outputs they read.
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    const Node& node = graph->nodes[i];
    is_alive[i] = std::any_of(node.outputs.begin(), node.outputs.end(),
                              [&](uint32_t id) { return is_read[id]; });
    if (!is_alive[i]) continue;
    for (const uint32_t id : node.inputs) {
      if (id != kNoId) is_read[id] = true;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    if (!is_alive[i]) continue;
    if (kept != i) graph->nodes[kept] = std::move(graph->nodes[i]);
    ++kept;
  }
  graph->nodes.resize(kept);
}

std::vector<bool> read_values(const Graph& graph) {
  std::vector<bool> is_read(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const uint32_t id : node.inputs) {
      if (id != kNoId) is_read[id] = true;
    }
    if (node.kind == NodeKind::Softmax) is_read[node.outputs[0]] = true;
  }
  return is_read;
}

}  // namespace petrel::backends::xnnpack
