// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/format/live_bytes.h"

#include <algorithm>
#include <vector>

#include "backends/xnnpack/format/operator_bytes.h"

namespace petrel::backends::xnnpack {

namespace {

// `scratch_of(node)` comes on top while a node runs.
template <typename ScratchOf>
uint64_t peak_bytes(const Graph& graph, const ScratchOf& scratch_of) {
  // Behind the last node that reads or makes it; 0 for values of nobody.
  std::vector<size_t> end(graph.values.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const uint32_t id : graph.nodes[i].inputs) {
      if (id != kNoId) end[id] = i + 1;
    }
    for (const uint32_t id : graph.nodes[i].outputs) end[id] = std::max(end[id], i + 1);
  }
  std::vector<std::vector<uint32_t>> dying(graph.nodes.size() + 1);
  for (uint32_t id = 0; id < end.size(); ++id) dying[end[id]].push_back(id);

  const auto bytes_of = [&graph](uint32_t id) -> uint64_t {
    const Value& value = graph.values[id];
    const bool is_inner = value.flags == 0 && !value.is_constant();
    return is_inner ? count_bytes(value) : 0;
  };
  // Sums stay below 2^64: a value has at most 2^34 bytes.
  std::vector<bool> is_live(graph.values.size(), false);
  uint64_t live = 0;
  uint64_t peak = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const uint32_t id : graph.nodes[i].outputs) {
      if (!is_live[id]) live += bytes_of(id);
      is_live[id] = true;
    }
    uint64_t now = 0;
    if (__builtin_add_overflow(live, scratch_of(graph.nodes[i]), &now)) return UINT64_MAX;
    peak = std::max(peak, now);
    for (const uint32_t id : dying[i + 1]) {
      if (is_live[id]) live -= bytes_of(id);
      is_live[id] = false;
    }
  }
  return peak;
}

}  // namespace

uint64_t peak_live_bytes(const Graph& graph) {
  return peak_bytes(graph, [](const Node&) -> uint64_t { return 0; });
}

uint64_t peak_workspace_bytes(const Graph& graph) {
  return peak_bytes(graph, [&graph](const Node& node) { return scratch_bytes(graph, node); });
}

}  // namespace petrel::backends::xnnpack
