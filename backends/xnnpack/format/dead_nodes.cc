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

namespace {

// The elements of a window of which kernels take the maximum at once: they keep that of the
// first ones in the output.
constexpr uint64_t kMaximaAtOnce = 9;

bool reads_output(const Node& node) {
  const Window& window = node.window;
  return node.kind == NodeKind::Softmax ||
         (node.kind == NodeKind::MaxPooling2d &&
          uint64_t{window.kernel_height} * window.kernel_width > kMaximaAtOnce);
}

}  // namespace

std::vector<bool> read_values(const Graph& graph) {
  std::vector<bool> is_read(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const uint32_t id : node.inputs) {
      if (id != kNoId) is_read[id] = true;
    }
    if (!reads_output(node)) continue;
    for (const uint32_t id : node.outputs) is_read[id] = true;
  }
  return is_read;
}

}  // namespace petrel::backends::xnnpack
